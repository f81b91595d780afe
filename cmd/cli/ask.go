package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"hooklog/cmd/cli/output"
)

// ask reads a password: without echo from a terminal, else the first line of the
// standard input.
func ask(cmd *cobra.Command, prompt string) (string, error) {
	in := cmd.InOrStdin()
	if !output.IsTerminal(in) {
		lines := bufio.NewScanner(in)
		if !lines.Scan() || lines.Text() == "" {
			return "", errors.Join(errors.New("there is no password on the standard input"), lines.Err())
		}
		return strings.TrimRight(lines.Text(), "\r"), nil
	}
	_, _ = fmt.Fprint(cmd.ErrOrStderr(), prompt)
	typed, err := readHidden(cmd.Context(), int(in.(*os.File).Fd()))
	_, _ = fmt.Fprintln(cmd.ErrOrStderr())
	if err == nil && typed == "" {
		err = errors.New("no password was typed")
	}
	return typed, err
}

// readHidden reads a line from a terminal without echo. A signal does not wake the
// reader; who is told to stop leaves it behind, and the terminal as it was.
func readHidden(ctx context.Context, terminal int) (string, error) {
	before, err := term.GetState(terminal)
	if err != nil {
		return "", err
	}
	type line struct {
		text []byte
		err  error
	}
	typed := make(chan line, 1)
	go func() {
		text, err := term.ReadPassword(terminal)
		typed <- line{text, err}
	}()
	select {
	case <-ctx.Done():
		return "", errors.Join(ctx.Err(), term.Restore(terminal, before))
	case l := <-typed:
		return string(l.text), l.err
	}
}

// askTwice is for a password that is set: nobody sees whether it is mistyped.
func askTwice(cmd *cobra.Command) (string, error) {
	one, err := ask(cmd, "Password: ")
	if err != nil {
		return "", err
	}
	two, err := ask(cmd, "Password again: ")
	if err == nil && one != two {
		err = errors.New("the two passwords differ")
	}
	return one, err
}
