package cli

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"time"

	"github.com/spf13/cobra"

	"hooklog/cmd/cli/contexts"
)

func newContext() *cobra.Command {
	cmd := group(&cobra.Command{
		Use:   "context",
		Short: "See and choose the service that verbs talk to",
		Example: `  hooklog context list
  hooklog context use local`,
	})
	r := newRemote(cmd)
	list := &cobra.Command{
		Use: "list", Short: "List the contexts", Args: cobra.NoArgs,
		Example: `  hooklog context list`,
		RunE:    func(cmd *cobra.Command, _ []string) error { return r.listContexts(cmd) },
	}
	use := &cobra.Command{
		Use: "use CONTEXT", Short: "Make a context the current one", Args: cobra.ExactArgs(1),
		Example:           `  hooklog context use local`,
		ValidArgsFunction: firstArgument(func(context.Context) []string { return contextNames() }),
		RunE: func(cmd *cobra.Command, args []string) error {
			return changeContext(cmd, args, func(set *contexts.Set, c *contexts.Context) { set.Current = c.Name })
		},
	}
	show := &cobra.Command{
		Use: "show", Short: "Show which service verbs talk to, as whom, and why", Args: cobra.NoArgs,
		Example: `  hooklog context show
  hooklog context show --context local -o yaml`,
		RunE: func(cmd *cobra.Command, _ []string) error { return r.showContext(cmd) },
	}
	cmd.AddCommand(list, use, show)
	return cmd
}

// contextRow is a context as people see it: without what it was given.
type contextRow struct {
	Current  bool      `json:"current"`
	Name     string    `json:"name"`
	URL      string    `json:"url"`
	User     string    `json:"user,omitempty"`
	Issuer   string    `json:"issuer,omitempty"`
	LoggedIn bool      `json:"loggedIn"`
	Expires  time.Time `json:"expires,omitzero"`
}

func (r *remote) listContexts(cmd *cobra.Command) error {
	p, err := r.printer(cmd)
	if err != nil {
		return err
	}
	file := contexts.Open(os.Getenv(variableContexts))
	set, err := file.Read()
	if err != nil {
		return err
	}
	rows := make([]contextRow, len(set.Contexts))
	for i, c := range set.Contexts {
		rows[i] = contextRow{c.Name == set.Current, c.Name, c.URL, c.User, c.Issuer, !c.Token.Access.IsZero(), c.Token.Expires}
	}
	answer, err := json.Marshal(rows)
	if err != nil {
		return err
	}
	return p.Value(answer)
}

func (r *remote) showContext(cmd *cobra.Command) error {
	p, err := r.printer(cmd)
	if err != nil {
		return err
	}
	f, err := r.find(environment(os.Environ()))
	if err != nil {
		return err
	}
	answer, err := json.Marshal(struct {
		URL  string `json:"url"`
		User string `json:"user,omitempty"`
		From string `json:"from"`
	}{f.url, f.user, f.source})
	if err != nil {
		return err
	}
	return p.Value(answer)
}

// changeContext changes the context that is named, or the current one.
func changeContext(cmd *cobra.Command, args []string, change func(*contexts.Set, *contexts.Context)) error {
	file := contexts.Open(os.Getenv(variableContexts))
	return file.Change(cmd.Context(), func(set *contexts.Set) error {
		name := set.Current
		if len(args) > 0 {
			name = args[0]
		}
		if name == "" {
			return errUsage{errors.New("there is no current context; hooklog context list shows all")}
		}
		c, err := set.Find(name)
		if err != nil {
			return errUsage{err}
		}
		change(set, &c)
		set.Put(c)
		return nil
	})
}

// contextNames are for the shell.
func contextNames() []string {
	file := contexts.Open(os.Getenv(variableContexts))
	set, _ := file.Read()
	var names []string
	for _, c := range set.Contexts {
		names = append(names, c.Name)
	}
	return names
}
