package cli

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"hooklog/cmd/settings"
	"hooklog/domain/access"
	"hooklog/domain/secret"
	"hooklog/transport/client"
)

// errUnreachable marks an error of a service that does not run.
type errUnreachable struct{ error }

func (e errUnreachable) Unwrap() error { return e.error }

// folders are the data folders of a service that was started right here, by
// make run or by hooklog serve.
var folders = []string{".hooklog", settings.Default().DataDir}

// here looks for the service of a data folder in the working folder.
func (r *remote) here(address string) (found, error) {
	for _, folder := range folders {
		if _, err := os.Stat(folder); err == nil {
			f, err := r.folder(folder, address)
			if err == nil || !errors.As(err, new(errElsewhere)) {
				return f, err
			}
		}
	}
	if address != "" {
		return found{}, errUsage{fmt.Errorf("who are you at %s? Log in with hooklog login --url %s, or set %s and %s",
			address, address, variableUser, variablePassword)}
	}
	return found{}, errUsage{fmt.Errorf("no service is known here: log in with hooklog login --url URL, or set %s, %s and %s",
		variableURL, variableUser, variablePassword)}
}

// errElsewhere is for a data folder whose service is not the one asked for.
type errElsewhere struct{ error }

// folder is the administrator of the service that runs on a data folder. An
// address, where there is one, must be that service's.
func (r *remote) folder(folder, address string) (found, error) {
	cfg := settings.Config{DataDir: folder}
	text, err := os.ReadFile(cfg.AddressFile())
	if err != nil {
		return found{}, errUnreachable{fmt.Errorf("no service runs on the data folder %s; start it: hooklog serve --data-dir %s", folder, folder)}
	}
	running := firstLine(text)
	if address != "" && !same(address, running) {
		return found{}, errElsewhere{fmt.Errorf("the service of the data folder %s is at %s, not at %s", folder, running, address)}
	}
	password, err := os.ReadFile(cfg.AdminPasswordFile())
	if err != nil {
		return found{}, errUsage{fmt.Errorf("the administrator's password is not to be read in %s; set %s and %s, or log in with hooklog login --url %s",
			folder, variableUser, variablePassword, running)}
	}
	return found{
		source: "data folder " + folder, url: running, user: access.Administrator, ca: r.ca,
		credentials: client.Basic{
			User: access.Administrator, Password: secret.NewPassword(firstLine(password)),
		},
		says: fmt.Sprintf("as %s of the data folder %s, at %s", access.Administrator, folder, running),
	}, nil
}

func firstLine(text []byte) string {
	line, _, _ := strings.Cut(string(text), "\n")
	return strings.TrimRight(line, "\r")
}
