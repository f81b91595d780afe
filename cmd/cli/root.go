// Package cli is the command line of hooklog: one file for each verb, which
// reads its arguments, calls the room that does the work, and reports. It
// decides nothing itself, and only cmd/hooklog imports it.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"hooklog/cmd/cli/output"
)

// The exit codes, for scripts and service managers. Failed means for a client
// that the service refused. Wrong usage includes settings that cannot work:
// starting again would not help.
const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitUntold      = 3
	exitUnreachable = 4
)

// Main runs the command line and gives the exit code. It stops early, in
// order, when ctx ends.
func Main(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root := newRoot()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)

	begun := false
	root.PersistentPreRunE = func(cmd *cobra.Command, args []string) error {
		// Otherwise looked at only when the verb has begun.
		err := errors.Join(cmd.ValidateRequiredFlags(), cmd.ValidateFlagGroups())
		if err == nil && slices.Contains(args, "") && cmd.Name() != cobra.ShellCompRequestCmd {
			// For the service no name means all there are; for a shell, a word to come.
			err = errors.New("an argument is empty; is a variable not set?")
		}
		begun = err == nil
		return err
	}

	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	words, code := report(err, begun)
	for line := range strings.Lines(words) {
		_, _ = fmt.Fprintf(stderr, "hooklog: %s\n", output.Visible(strings.TrimRight(line, "\n")))
	}
	return code
}

// The groups of verbs in the help.
const (
	groupClient  = "client"
	groupService = "service"
)

func newRoot() *cobra.Command {
	root := group(&cobra.Command{
		Use:   "hooklog",
		Short: "Receive webhooks, keep every call on a log, answer from its fold",
		Long: `hooklog gives an external system a URL to call. Each call becomes an event on
a Kafka topic before it is acknowledged; its result is answered at once or polled.

Without brokers it brings its own log, in one folder, and needs nothing else.`,
		Example: `  hooklog serve                                    # try it on this machine
  hooklog serve --brokers kafka:9092 --key-ring ring
  hooklog keys init ring

  hooklog webhook create webhook.invoices          # talk to the one that runs
  hooklog webhook test webhook.orders --data '{"order":1}'`,
		SilenceErrors: true,
		SilenceUsage:  true,
	})
	root.AddGroup(&cobra.Group{ID: groupClient, Title: "Talk to a running service:"},
		&cobra.Group{ID: groupService, Title: "Run the service:"})
	for _, cmd := range []*cobra.Command{
		newCommand(), newWebhook(), newPipeline(), newRun(), newResult(),
		newListen(), newTrace(), newAudit(), newCheckpoint(),
		newUser(), newClient(), newPolicy(), newKey(), newLogin(), newLogout(), newContext(),
	} {
		cmd.GroupID = groupClient
		root.AddCommand(cmd)
	}
	for _, cmd := range []*cobra.Command{newServe(), newAdmin(), newKeys(), newRebuild(), newVerify(), newDoctor()} {
		cmd.GroupID = groupService
		root.AddCommand(cmd)
	}
	root.AddCommand(newCompletion(), newVersion())
	root.CompletionOptions.DisableDefaultCmd = true
	return root
}

// group makes cmd one that only holds others: alone it shows its help, and a
// word that it does not know is wrong usage.
func group(cmd *cobra.Command) *cobra.Command {
	cmd.Args = cobra.ArbitraryArgs
	cmd.SuggestionsMinimumDistance = 2
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return cmd.Help()
		}
		hint := fmt.Sprintf("%s --help lists what there is", cmd.CommandPath())
		if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
			hint = "did you mean " + strings.Join(near, " or ") + "?"
		}
		return errUsage{fmt.Errorf("unknown command %q; %s", cmd.CommandPath()+" "+args[0], hint)}
	}
	return cmd
}
