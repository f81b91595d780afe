package cli

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"

	"hooklog/cmd/settings"
	"hooklog/domain/access"
	"hooklog/domain/secret"
	"hooklog/transport/client"
	"hooklog/transport/kafka/embedded"
)

// errUnreachable marks an error of a service that does not run.
type errUnreachable struct{ error }

func (e errUnreachable) Unwrap() error { return e.error }

// folders are the data folders of a service that was started right here, by
// make run or by hooklog serve.
var folders = []string{".hooklog", settings.Default().DataDir}

// here looks for the service of a data folder in the working folder.
func (r *remote) here(address string) (found, error) {
	var failure error
	for _, folder := range folders {
		info, err := os.Stat(folder)
		if err != nil {
			continue
		}
		f, err := r.own(folder, info, address)
		if err == nil {
			return f, nil
		}
		if failure == nil && !errors.As(err, new(errElsewhere)) {
			failure = err
		}
	}
	if failure != nil {
		return found{}, failure
	}
	if address != "" {
		return found{}, errUsage{fmt.Errorf("who are you at %s? Log in with hooklog login --url %s, or set %s and %s",
			address, address, variableUser, variablePassword)}
	}
	return found{}, errUsage{fmt.Errorf("no service is known here: log in with hooklog login --url URL, or set %s, %s and %s",
		variableURL, variableUser, variablePassword)}
}

// own is folder for one that nobody named.
func (r *remote) own(folder string, info os.FileInfo, address string) (found, error) {
	if !isOwn(info) {
		return found{}, errUsage{fmt.Errorf("the data folder %s may have been made by somebody else; if you trust it, name it: --data-dir %s", folder, folder)}
	}
	return r.folder(folder, address)
}

// isOwn reports that nobody else can have written what the folder holds. It says
// where the password goes, and people work in folders of others too.
func isOwn(folder os.FileInfo) bool {
	owner, known := folder.Sys().(*syscall.Stat_t)
	return known && int(owner.Uid) == os.Geteuid() && folder.Mode().Perm()&0o022 == 0
}

// addressOf is where the service of a data folder is, while it runs: a crash
// leaves the file, and then somebody else may have the port.
func addressOf(folder string) (string, error) {
	text, err := os.ReadFile(settings.Config{DataDir: folder}.AddressFile())
	held := false
	if err == nil {
		held, _ = embedded.Held(folder)
	}
	if !held {
		return "", errUnreachable{fmt.Errorf("no service runs on the data folder %s; start it: hooklog serve --data-dir %s", folder, folder)}
	}
	return firstLine(text), nil
}

// errElsewhere is for a data folder whose service is not the one asked for.
type errElsewhere struct{ error }

// folder is the administrator of the service that runs on a data folder. An
// address, where there is one, must be that service's.
func (r *remote) folder(folder, address string) (found, error) {
	running, err := addressOf(folder)
	if err != nil {
		return found{}, err
	}
	if address != "" && !same(address, running) {
		return found{}, errElsewhere{fmt.Errorf("the service of the data folder %s is at %s, not at %s", folder, running, address)}
	}
	password, err := os.ReadFile(settings.Config{DataDir: folder}.AdminPasswordFile())
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
