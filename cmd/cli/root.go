// Package cli is the command line of hooklog: one file for each verb, which
// reads its arguments, calls the room that does the work, and reports. It
// decides nothing itself, and only cmd/hooklog imports it.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// The exit codes, for scripts and service managers. Wrong usage includes
// settings that cannot work: starting again would not help.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

// errUsage marks an error that the caller mends on the command line.
type errUsage struct{ error }

func (e errUsage) Unwrap() error { return e.error }

// Main runs the command line and gives the exit code. It stops early, in
// order, when ctx ends.
func Main(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root := newRoot()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)

	// What fails before a verb begins is wrong usage: an unknown flag, a
	// missing argument.
	begun := false
	root.PersistentPreRun = func(*cobra.Command, []string) { begun = true }

	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	for line := range strings.Lines(err.Error()) {
		_, _ = fmt.Fprintf(stderr, "hooklog: %s\n", strings.TrimRight(line, "\n"))
	}
	if !begun || errors.As(err, new(errUsage)) {
		return exitUsage
	}
	return exitFailed
}

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
  hooklog admin reset`,
		SilenceErrors: true,
		SilenceUsage:  true,
	})
	root.AddCommand(newServe(), newAdmin(), newKeys(), newRebuild(), newDoctor(), newVersion())
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
