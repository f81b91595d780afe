package cli

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"hooklog/cmd/cli/contexts"
	"hooklog/domain/secret"
	"hooklog/transport/client"
)

// environment is os.Environ; an empty variable counts as not set.
type environment []string

func (e environment) get(name string) string {
	for _, entry := range e {
		if value, found := strings.CutPrefix(entry, name+"="); found {
			return value
		}
	}
	return ""
}

const (
	variableURL      = "HOOKLOG_URL"
	variableUser     = "HOOKLOG_USER"
	variablePassword = "HOOKLOG_PASSWORD"
	variableToken    = "HOOKLOG_TOKEN" //nolint:gosec // a name
	variableContexts = "HOOKLOG_CONTEXTS"
	variableDataDir  = "HOOKLOG_DATA_DIR"
)

// found is a service and who to be there.
type found struct {
	// source says where it was found, for people.
	source, url, user, ca string
	credentials           client.Credentials
	// says is what the caller should know, because nobody told hooklog so.
	says string
}

func (f found) connect() (*client.Client, error) {
	c, err := client.New(client.Config{BaseURL: f.url, CAFile: f.ca, Credentials: f.credentials})
	if err != nil {
		return nil, errUsage{err}
	}
	return c, nil
}

// find looks where a service may be named, the more explicit first: a context
// that was asked for, credentials in the environment, a data folder that was
// asked for, the current context, a data folder right here. A log-in is used at
// its own service only, a data folder's password at the folder's.
func (r *remote) find(env environment) (found, error) {
	file, err := contexts.Open(env.get(variableContexts))
	if err != nil {
		return found{}, err
	}
	set, err := file.Read()
	if err != nil {
		return found{}, err
	}
	address := first(r.url, env.get(variableURL))
	if r.context != "" {
		if r.url != "" {
			return found{}, errUsage{errors.New("--url and --context name two services; keep one of them")}
		}
		c, err := set.Find(r.context)
		if err != nil {
			return found{}, errUsage{err}
		}
		return r.logged(file, c), nil
	}
	who, err := fromEnvironment(env)
	if err != nil {
		return found{}, errUsage{err}
	}
	current, currentErr := set.Find(set.Current)
	if who != nil {
		return found{
			source: "environment", url: first(address, current.URL, defaultURL), user: env.get(variableUser),
			ca: first(r.ca, current.CA), credentials: who,
		}, nil
	}
	if folder := first(r.dataDir, env.get(variableDataDir)); folder != "" {
		return r.folder(folder, address)
	}
	if currentErr == nil && (address == "" || same(address, current.URL)) {
		return r.logged(file, current), nil
	}
	for _, c := range set.Contexts {
		if address != "" && same(address, c.URL) {
			return r.logged(file, c), nil
		}
	}
	return r.here(address)
}

const defaultURL = "http://127.0.0.1:8080"

// fromEnvironment gives the credentials that a script has set; nil for none.
func fromEnvironment(env environment) (client.Credentials, error) {
	user, password, token := env.get(variableUser), env.get(variablePassword), env.get(variableToken)
	switch {
	case token != "" && password != "":
		return nil, fmt.Errorf("%s and %s are both set; keep one of them", variableToken, variablePassword)
	case token != "":
		return client.Bearer{Token: secret.NewPassword(token)}, nil
	case user != "" && password != "":
		return client.Basic{User: user, Password: secret.NewPassword(password)}, nil
	case password != "":
		return nil, fmt.Errorf("%s is set without %s", variablePassword, variableUser)
	}
	return nil, nil
}

func (r *remote) logged(file contexts.File, c contexts.Context) found {
	return found{
		source: "context " + c.Name, url: c.URL, user: c.User, ca: first(r.ca, c.CA),
		credentials: contexts.Session{File: file, Name: c.Name, Now: time.Now},
	}
}

// same reports that two URLs lead to one service; this machine has many names.
func same(one, two string) bool {
	a, errA := url.Parse(one)
	b, errB := url.Parse(two)
	if errA != nil || errB != nil || a.Scheme != b.Scheme || a.Port() != b.Port() ||
		strings.Trim(a.Path, "/") != strings.Trim(b.Path, "/") {
		return false
	}
	return a.Hostname() == b.Hostname() || (client.IsLoopback(a.Hostname()) && client.IsLoopback(b.Hostname()))
}

func first(texts ...string) string {
	for _, text := range texts {
		if text != "" {
			return text
		}
	}
	return ""
}
