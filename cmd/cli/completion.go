package cli

import (
	"context"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hooklog/domain/catalog"
	"hooklog/transport/client"
)

// completionTime bounds what the shell waits for; then there is no suggestion.
const completionTime = time.Second

func newCompletion() *cobra.Command {
	cmd := group(&cobra.Command{
		Use:     "completion",
		Short:   "Let the shell complete words, with names from the service",
		Example: `  source <(hooklog completion bash)`,
	})
	for _, shell := range []struct {
		name, example string
		write         func(root *cobra.Command, cmd *cobra.Command) error
	}{
		{"bash", `  source <(hooklog completion bash)                  # needs the package bash-completion`, func(root, cmd *cobra.Command) error {
			return root.GenBashCompletionV2(cmd.OutOrStdout(), true)
		}},
		{"zsh", `  hooklog completion zsh > _hooklog                  # into a folder of $fpath`, func(root, cmd *cobra.Command) error {
			return root.GenZshCompletion(cmd.OutOrStdout())
		}},
		{"fish", `  hooklog completion fish > hooklog.fish             # into ~/.config/fish/completions`, func(root, cmd *cobra.Command) error {
			return root.GenFishCompletion(cmd.OutOrStdout(), true)
		}},
		{"powershell", `  hooklog completion powershell > hooklog.ps1        # and run it from $PROFILE`, func(root, cmd *cobra.Command) error {
			return root.GenPowerShellCompletionWithDesc(cmd.OutOrStdout())
		}},
	} {
		cmd.AddCommand(&cobra.Command{
			Use: shell.name, Short: "Write the script for " + shell.name, Example: shell.example, Args: cobra.NoArgs,
			RunE: func(cmd *cobra.Command, _ []string) error { return shell.write(cmd.Root(), cmd) },
		})
	}
	return cmd
}

// complete lets a flag be completed.
func complete(cmd *cobra.Command, flag string, names func(ctx context.Context) []string) {
	must(cmd.RegisterFlagCompletionFunc(flag, func(cmd *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
		ctx, cancel := context.WithTimeout(cmd.Context(), completionTime)
		defer cancel()
		return beginning(names(ctx), word), cobra.ShellCompDirectiveNoFileComp
	}))
}

// fixed lets a flag be completed whose values are known.
func fixed(cmd *cobra.Command, flag string, values []string) {
	must(cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)))
}

// must is for what only a wrong name in this package can break.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

// firstArgument completes the one argument of a verb.
func firstArgument(names func(ctx context.Context) []string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), completionTime)
		defer cancel()
		return beginning(names(ctx), word), cobra.ShellCompDirectiveNoFileComp
	}
}

func beginning(names []string, word string) []string {
	return slices.DeleteFunc(names, func(name string) bool { return !strings.HasPrefix(name, word) })
}

// completeParameters completes key=value: first the keys that are not there yet,
// then values.
func (r *remote) completeParameters(c catalog.Command) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
		name, value, isValue := strings.Cut(word, "=")
		if !isValue {
			var keys []string
			for _, p := range c.Params {
				there := func(arg string) bool {
					return strings.HasPrefix(arg, p.Name+"=") || strings.HasPrefix(arg, p.Name+":=")
				}
				if !slices.ContainsFunc(args, there) {
					keys = append(keys, p.Name+"=")
				}
			}
			return beginning(keys, word), cobra.ShellCompDirectiveNoSpace | cobra.ShellCompDirectiveNoFileComp
		}
		p, known := parameter(c, name)
		if !known || strings.HasPrefix(value, "@") {
			return nil, cobra.ShellCompDirectiveDefault
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), completionTime)
		defer cancel()
		var words []string
		for _, v := range beginning(r.values(ctx, c, p), value) {
			words = append(words, name+"="+v)
		}
		return words, cobra.ShellCompDirectiveNoFileComp
	}
}

// values are what a parameter may be, as far as anybody knows.
func (r *remote) values(ctx context.Context, c catalog.Command, p catalog.Param) []string {
	family, _, _ := strings.Cut(c.Name, ".")
	switch {
	case len(p.Enum) > 0:
		return slices.Clone(p.Enum)
	case p.Type == catalog.Boolean:
		return []string{"true", "false"}
	case p.Name == "eventKey":
		return r.eventKeys(ctx)
	case p.Name == "pipeline", family == "pipeline" && p.Name == "name":
		return r.pipelineNames(ctx)
	case p.Name == "username", p.Name == "user", p.Name == "users":
		return r.names(ctx, catalog.UserGet, "username")
	case family == "client" && p.Name == "id":
		return r.names(ctx, catalog.ClientGet, "id")
	case family == "policy" && p.Name == "name":
		return r.names(ctx, catalog.PolicyGet, "name")
	}
	return nil
}

func (r *remote) eventKeys(ctx context.Context) []string {
	return r.names(ctx, catalog.WebhookList, "eventKey")
}

func (r *remote) pipelineNames(ctx context.Context) []string {
	return r.names(ctx, catalog.PipelineGet, "name")
}

// names asks the service for the first page of a list. Whatever fails, a shell
// that completes a word is no place to say so.
func (r *remote) names(ctx context.Context, command, member string) []string {
	found, err := r.find(environment(os.Environ()))
	if err != nil {
		return nil
	}
	c, err := found.connect()
	if err != nil {
		return nil
	}
	answer, err := c.Command(ctx, client.Call{Name: command})
	if err != nil {
		return nil
	}
	var page struct{ Items []map[string]any }
	if json.Unmarshal(answer, &page) != nil {
		return nil
	}
	var names []string
	for _, item := range page.Items {
		if name, ok := item[member].(string); ok {
			names = append(names, name)
		}
	}
	return names
}
