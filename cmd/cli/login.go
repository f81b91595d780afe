package cli

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/oauth2"

	"hooklog/cmd/cli/contexts"
	"hooklog/cmd/cli/output"
	"hooklog/domain/secret"
	"hooklog/transport/client"
)

// login is what a log-in is asked for with.
type login struct {
	context, url, user, ca string
	issuer, client         string
}

func newLogin() *cobra.Command {
	var l login
	cmd := &cobra.Command{
		Use:   "login",
		Short: "Log in to a service, and make it the current one",
		Long: `Log in to a service, and make it the current one for the other verbs. What the
log-in gives is kept in the file of contexts, which only you can read, and renews
itself. The file is contexts.yaml in your folder for settings, or the one that
HOOKLOG_CONTEXTS names.

With --user, it is by password: the one in HOOKLOG_PASSWORD, or asked for on a
terminal, or the first line of the standard input. Where an identity provider
knows the users, name it: --issuer opens its log-in by device code or web page,
as it offers.`,
		Example: `  hooklog login --url $HOOKLOG_URL --user alice < password.txt

  # Where an identity provider knows the users:
  hooklog login --url https://hooks.example.org --issuer https://id.example.org --client-id hooklog-cli`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return l.run(cmd, environment(os.Environ())) },
	}
	flags := cmd.Flags()
	flags.StringVar(&l.url, "url", "", "where the service is (also HOOKLOG_URL); default the one of the context")
	flags.StringVar(&l.user, "user", "", "name to log in with a password (also HOOKLOG_USER)")
	flags.StringVar(&l.context, "context", "", "name to remember it by; default the host of the URL")
	flags.StringVar(&l.ca, "ca", "", "file with the certificates (PEM) to trust")
	flags.StringVar(&l.issuer, "issuer", "", "URL of the identity provider; default the service's own realm")
	flags.StringVar(&l.client, "client-id", "", "OAuth client to log in through; default hooklog")
	return cmd
}

func (l login) run(cmd *cobra.Command, env environment) error {
	file := contexts.Open(env.get(variableContexts))
	set, err := file.Read()
	if err != nil {
		return err
	}
	c, err := l.wanted(set, env)
	if err != nil {
		return errUsage{err}
	}
	tell := output.Printer{Err: cmd.ErrOrStderr()}.Message
	if u, _ := url.Parse(c.URL); u.Scheme == "http" && !client.IsLoopback(u.Hostname()) {
		tell("others can read what is sent to %s; use https", c.URL)
	}
	issuer, err := c.IssuerOf(cmd.Context())
	if err != nil {
		return err
	}
	token, err := obtain(cmd, issuer, c, secret.NewPassword(env.get(variablePassword)), tell)
	if err != nil {
		return err
	}
	c.Token = contexts.TokenOf(token)
	err = file.Change(cmd.Context(), func(set *contexts.Set) error {
		set.Put(c)
		set.Current = c.Name
		return nil
	})
	if err == nil {
		tell("logged in to %s; context %s is the current one now", c.URL, c.Name)
	}
	return err
}

// wanted is the context to log in to: that of the name or of the URL where there
// is one, with what the flags say in place of what it had. One that is given
// another URL begins anew: what it had is of another service.
func (l login) wanted(set contexts.Set, env environment) (contexts.Context, error) {
	fresh := contexts.Context{Name: l.context, Client: "hooklog"}
	address := first(l.url, env.get(variableURL))
	c, err := contextAt(set, address)
	if l.context != "" {
		if c, err = set.Find(l.context); err == nil {
			address = first(l.url, c.URL)
		}
	}
	if err != nil || (address != "" && !same(address, c.URL)) {
		c = fresh
	}
	if c.URL, err = client.CheckURL(first(address, c.URL, runningHere())); err != nil {
		return c, errors.New("name the service: hooklog login --url https://hooks.example.org --user alice")
	}
	if c.Name == "" {
		u, _ := url.Parse(c.URL)
		c.Name = u.Host
	}
	c.CA, c.Issuer, c.Client = first(l.ca, c.CA), first(l.issuer, c.Issuer), first(l.client, c.Client)
	c.User = first(l.user, env.get(variableUser), c.User)
	if c.User == "" && c.Issuer == "" {
		return c, errors.New("name the user: hooklog login --user alice")
	}
	return c, nil
}

// runningHere is the URL of a service that was started in this folder.
func runningHere() string {
	for _, folder := range folders {
		if info, err := os.Stat(folder); err != nil || !isOwn(info) {
			continue
		}
		if address, err := addressOf(folder); err == nil {
			return address
		}
	}
	return ""
}

// obtain gets a token in the way that fits: by password for a user who was
// named, else as the issuer offers.
func obtain(cmd *cobra.Command, issuer *client.Issuer, c contexts.Context, password secret.Password, tell func(string, ...any)) (*oauth2.Token, error) {
	ctx := cmd.Context()
	switch {
	case c.User != "":
		if password.IsZero() {
			typed, err := ask(cmd, fmt.Sprintf("Password of %s at %s: ", c.User, c.URL))
			if err != nil {
				return nil, errUsage{err}
			}
			password = secret.NewPassword(typed)
		}
		return issuer.ByPassword(ctx, c.User, password)
	case issuer.HasDeviceFlow():
		return issuer.ByDevice(ctx, func(address, code string) { tell("open %s and enter %s", address, code) })
	case issuer.HasPage():
		return issuer.ByPage(ctx, func(address string) { tell("open %s", address) })
	}
	return nil, errUsage{fmt.Errorf("%s offers no log-in page; name the user: --user alice", c.Issuer)}
}

func newLogout() *cobra.Command {
	return &cobra.Command{
		Use:   "logout [CONTEXT]",
		Short: "Forget the log-in of a context",
		Long: `Forget the log-in of the current context, or of the one that is named. The
context stays, so that a new log-in needs no URL. What the service has given out
ends by itself.`,
		Example: `  hooklog logout
  hooklog logout local`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: firstArgument(func(context.Context) []string { return contextNames() }),
		RunE: func(cmd *cobra.Command, args []string) error {
			return changeContext(cmd, args, func(_ *contexts.Set, c *contexts.Context) { c.Token = contexts.Token{} })
		},
	}
}
