package cli

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"hooklog/domain/catalog"
	"hooklog/transport/client"
)

func newCommand() *cobra.Command {
	cmd := group(&cobra.Command{
		Use:   "command NAME [key=value ...]",
		Short: "Run any command of the service",
		Long: `Run any command of the service by its name, with its parameters:

  key=value    the value is all behind the first =
  key=@file    what the file holds; key=@- what the standard input holds
  key:=json    a JSON value: true, 5, "text", ["a","b"], {"any":"thing"}

A password is better not written here, where others see it: password=@- asks for
it on a terminal. Data goes to the standard output, all else to the standard
error. The exit code is 0 when it is done, 1 when the service refused, 2 when
the command line is wrong, and 4 when the service could not be reached.`,
		Example: `  hooklog command webhook.put eventKey=webhook.billing
  hooklog command webhook.list limit=10 -o table
  hooklog command webhook.put --help`,
	})
	r := newRemote(cmd)
	for _, c := range catalog.All() {
		if c.Kind == catalog.Receive {
			cmd.AddCommand(newReceive(r, c))
		} else {
			cmd.AddCommand(newNamed(r, c))
		}
	}
	return cmd
}

// newNamed is one command of the catalog.
func newNamed(r *remote, c catalog.Command) *cobra.Command {
	cmd := describe(c)
	var key string
	if c.Kind != catalog.Look {
		cmd.Flags().StringVar(&key, "idempotency-key", "", "run it once under this key: a repeat gets the first outcome")
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		params, err := arguments(cmd, c, args)
		if err != nil {
			return err
		}
		s, err := r.open(cmd)
		if err != nil {
			return err
		}
		return s.show(cmd, c, params, key)
	}
	cmd.ValidArgsFunction = r.completeParameters(c)
	return cmd
}

// describe makes the help of a command from the catalog.
func describe(c catalog.Command) *cobra.Command {
	short, _, _ := strings.Cut(c.Help, ". ")
	var long strings.Builder
	long.WriteString(c.Help + "\n")
	if len(c.Params) > 0 {
		long.WriteString("\nParameters:\n")
	}
	for _, p := range c.Params {
		name := p.Name
		if p.Required {
			name += " (required)"
		}
		fmt.Fprintf(&long, "  %-22s %s\n", name, p.Help)
	}
	return &cobra.Command{
		Use: c.Name + " [key=value ...]", Short: strings.TrimSuffix(short, "."),
		Long: strings.TrimSuffix(long.String(), "\n"), Example: commandExamples[c.Name],
		DisableFlagsInUseLine: true,
	}
}

// show runs a command and shows its answer. A change has a key even where none
// was given, so that it can be repeated when its answer was lost.
func (s session) show(cmd *cobra.Command, c catalog.Command, params url.Values, key string) error {
	if key == "" && c.Kind == catalog.Change {
		key = uuid.NewString()
	}
	answer, err := s.Open(cmd.Context(), client.Call{Name: c.Name, Params: params, IdempotencyKey: key})
	if err != nil {
		return repeatable(err, c, key)
	}
	if answer.IsStream() {
		for value, err := range answer.Lines() {
			if err != nil {
				return err
			}
			if err := s.Line(value); err != nil {
				return err
			}
		}
		return nil
	}
	value, err := answer.Value()
	if err != nil {
		return repeatable(err, c, key)
	}
	return s.Value(value, columns[c.Name]...)
}

// repeatable says how to find out what became of a change without an answer.
func repeatable(err error, c catalog.Command, key string) error {
	var lost *client.Unreachable
	if c.Kind == catalog.Change && errors.As(err, &lost) && lost.Sent {
		return fmt.Errorf("%w. It may have been done; hooklog command %s with the same parameters and --idempotency-key %s does it once", err, c.Name, key)
	}
	return err
}

// ask runs a command of a friendly verb and gives its answer. A change has a key
// here too.
func (s session) ask(cmd *cobra.Command, name string, params ...string) ([]byte, error) {
	values := url.Values{}
	for i := 0; i+1 < len(params); i += 2 {
		if params[i+1] != "" {
			values.Set(params[i], params[i+1])
		}
	}
	call := client.Call{Name: name, Params: values}
	c, _ := catalog.Lookup(name)
	if c.Kind == catalog.Change {
		call.IdempotencyKey = uuid.NewString()
	}
	answer, err := s.Command(cmd.Context(), call)
	return answer, repeatable(err, c, call.IdempotencyKey)
}
