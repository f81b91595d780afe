package cli

import (
	"context"
	"net/url"

	"github.com/spf13/cobra"

	"hooklog/domain/catalog"
)

// kept is something that the service keeps by a name, with a command each to
// put, get and delete it.
type kept struct {
	verb, plural, short string
	// id is the parameter that names one.
	id               string
	put, get, remove string
	putExample       string
	one              string // a name that examples use
}

func newUser() *cobra.Command {
	return kept{
		verb: "user", plural: "users", short: "Keep the users of the service's own realm",
		id: "username", put: catalog.UserPut, get: catalog.UserGet, remove: catalog.UserDelete, one: "alice",
		putExample: `  hooklog user put alice roles=shop
  hooklog user put bob roles=shop password=@password.txt
  hooklog user put carol password=@- < password.txt  # on a terminal it asks`,
	}.command()
}

func newClient() *cobra.Command {
	return kept{
		verb: "client", plural: "OAuth clients", short: "Keep the OAuth clients of the service's own realm",
		id: "id", put: catalog.ClientPut, get: catalog.ClientGet, remove: catalog.ClientDelete, one: "shop-app",
		putExample: `  hooklog client put billing newSecret=true`,
	}.command()
}

func newPolicy() *cobra.Command {
	return kept{
		verb: "policy", plural: "rules", short: "Keep the rules that say who may do what",
		id: "name", put: catalog.PolicyPut, get: catalog.PolicyGet, remove: catalog.PolicyDelete, one: "shop",
		putExample: `  hooklog policy put shop roles=shop commands='webhook.*' keys='webhook.shop.*'`,
	}.command()
}

func (k kept) command() *cobra.Command {
	cmd := group(&cobra.Command{Use: k.verb, Short: k.short, Example: "  hooklog " + k.verb + " list"})
	r := newRemote(cmd)
	names := firstArgument(func(ctx context.Context) []string { return r.names(ctx, k.get, k.id) })
	put, _ := catalog.Lookup(k.put)
	cmd.AddCommand(&cobra.Command{
		Use: "list", Short: "List the " + k.plural, Args: cobra.NoArgs,
		Example: "  hooklog " + k.verb + " list",
		RunE: r.runs(func(cmd *cobra.Command, _ []string, s session) error {
			return s.list(cmd, k.get, url.Values{}, nil)
		}),
	}, k.single(r, "show", "Show one", k.get, names), k.single(r, "delete", "Delete one", k.remove, names), &cobra.Command{
		Use: "put NAME [key=value ...]", Short: "Create one, or change it", Args: cobra.MinimumNArgs(1),
		Long: describe(put).Long, Example: k.putExample, DisableFlagsInUseLine: true,
		ValidArgsFunction: func(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
			if len(args) == 0 {
				return names(cmd, args, word)
			}
			return r.completeParameters(put)(cmd, append(args, k.id+"="), word)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			params, err := arguments(cmd, put, append([]string{k.id + "=" + args[0]}, args[1:]...))
			if err != nil {
				return err
			}
			s, err := r.open(cmd)
			if err != nil {
				return err
			}
			return s.show(cmd, put, params, "")
		},
	})
	return cmd
}

// single is a verb that needs nothing but a name.
func (k kept) single(r *remote, name, short, command string, names cobra.CompletionFunc) *cobra.Command {
	return &cobra.Command{
		Use: name + " NAME", Short: short, Args: cobra.ExactArgs(1), ValidArgsFunction: names,
		Example: "  hooklog " + k.verb + " " + name + " " + k.one,
		RunE: r.runs(func(cmd *cobra.Command, args []string, s session) error {
			answer, err := s.ask(cmd, command, k.id, args[0])
			if err != nil {
				return err
			}
			return s.Value(answer)
		}),
	}
}

func newKey() *cobra.Command {
	cmd := group(&cobra.Command{
		Use: "key", Short: "Keep the keys that sign access tokens", Example: `  hooklog key rotate`,
	})
	r := newRemote(cmd)
	cmd.AddCommand(&cobra.Command{
		Use: "rotate", Short: "Sign with a new key from now on", Args: cobra.NoArgs,
		Example: `  hooklog key rotate`,
		RunE: r.runs(func(cmd *cobra.Command, _ []string, s session) error {
			answer, err := s.ask(cmd, catalog.KeyRotate)
			if err != nil {
				return err
			}
			return s.Value(answer)
		}),
	})
	return cmd
}
