package cli

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"
	"unicode"

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

// find looks where a service may be named, the more explicit first: a context or
// a data folder that was asked for, credentials in the environment, a data folder
// there, the current context, a data folder right here. A log-in is used at its
// own service only, a data folder's password at the folder's.
func (r *remote) find(env environment) (found, error) {
	file := contexts.Open(env.get(variableContexts))
	set, err := file.Read()
	if err != nil {
		return found{}, err
	}
	address := first(r.url, env.get(variableURL))
	switch {
	case r.context != "" && (r.url != "" || r.dataDir != ""):
		return found{}, errUsage{errors.New("--context names a service, and so do --url and --data-dir; keep one of them")}
	case r.context != "":
		c, err := set.Find(r.context)
		if err != nil {
			return found{}, errUsage{err}
		}
		return r.logged(file, c), nil
	case r.dataDir != "":
		return r.folder(r.dataDir, address)
	}
	who, err := fromEnvironment(env)
	if err != nil {
		return found{}, errUsage{err}
	}
	if who != nil {
		current, _ := set.Find(set.Current)
		address = first(address, current.URL, defaultURL)
		known, _ := contextAt(set, address)
		return found{
			source: "environment", url: address, user: env.get(variableUser),
			ca: first(r.ca, known.CA), credentials: who,
		}, nil
	}
	if folder := env.get(variableDataDir); folder != "" {
		return r.folder(folder, address)
	}
	if c, err := contextAt(set, address); err == nil {
		return r.logged(file, c), nil
	}
	return r.here(address)
}

// contextAt is the context of an address, the current one before others; without
// an address it is the current one.
func contextAt(set contexts.Set, address string) (contexts.Context, error) {
	current, err := set.Find(set.Current)
	if address == "" || (err == nil && same(address, current.URL)) {
		return current, err
	}
	for _, c := range set.Contexts {
		if same(address, c.URL) {
			return c, nil
		}
	}
	return contexts.Context{}, fmt.Errorf("there is no context at %s", address)
}

const defaultURL = "http://127.0.0.1:8080"

// fromEnvironment gives the credentials that a script has set; nil for none.
func fromEnvironment(env environment) (client.Credentials, error) {
	user, password, token := env.get(variableUser), env.get(variablePassword), env.get(variableToken)
	switch {
	case token != "" && password != "":
		return nil, fmt.Errorf("%s and %s are both set; keep one of them", variableToken, variablePassword)
	case strings.ContainsFunc(token, unicode.IsControl):
		return nil, fmt.Errorf("%s must be one line", variableToken)
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
		credentials: contexts.Session{File: file, Name: c.Name, URL: c.URL, Now: time.Now},
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
