package cli

import (
	"context"
	"os"

	"github.com/spf13/cobra"

	"hooklog/cmd/cli/output"
	"hooklog/transport/client"
)

// remote is what every verb has that talks to a running service.
type remote struct {
	url, context, ca, dataDir string
	format, color             string
}

// newRemote adds the flags to a verb and to those below it.
func newRemote(cmd *cobra.Command) *remote {
	r := &remote{}
	flags := cmd.PersistentFlags()
	flags.StringVar(&r.url, "url", "", "where the service is, such as https://hooks.example.org (also HOOKLOG_URL)")
	flags.StringVar(&r.context, "context", "", "context to use in place of the current one")
	flags.StringVar(&r.ca, "ca", "", "file with the certificates (PEM) to trust")
	flags.StringVar(&r.dataDir, "data-dir", "", "data folder of a service on this machine, whose administrator to be (also HOOKLOG_DATA_DIR)")
	flags.StringVarP(&r.format, "output", "o", "", "table, json or yaml; default table on a terminal, else json")
	flags.StringVar(&r.color, "color", output.Auto, "when to use colours: auto, always or never")
	fixed(cmd, "output", output.Formats)
	fixed(cmd, "color", output.Colors)
	complete(cmd, "context", func(context.Context) []string { return contextNames() })
	return r
}

func (r *remote) printer(cmd *cobra.Command) (output.Printer, error) {
	p := output.Printer{Out: cmd.OutOrStdout(), Err: cmd.ErrOrStderr(), Format: r.format, Color: r.color}
	if err := p.Check(); err != nil {
		return p, errUsage{err}
	}
	return p, nil
}

// session is a verb at work: the service, and where to show what it says.
type session struct {
	*client.Client
	output.Printer
}

// open finds the service and who to be there. It does not connect.
func (r *remote) open(cmd *cobra.Command) (session, error) {
	p, err := r.printer(cmd)
	if err != nil {
		return session{}, err
	}
	found, err := r.find(environment(os.Environ()))
	if err != nil {
		return session{}, err
	}
	if found.says != "" {
		p.Message("%s", found.says)
	}
	c, err := found.connect()
	return session{c, p}, err
}

// openForAnybody is open for calls and results, which need no log-in: a URL will
// do.
func (r *remote) openForAnybody(cmd *cobra.Command) (session, error) {
	address := first(r.url, os.Getenv(variableURL))
	if address == "" || r.context != "" {
		return r.open(cmd)
	}
	p, err := r.printer(cmd)
	if err != nil {
		return session{}, err
	}
	anybody := found{url: address, ca: r.ca}
	if known, err := r.find(environment(os.Environ())); err == nil {
		anybody.ca = known.ca
	}
	c, err := anybody.connect()
	return session{c, p}, err
}

// work is what a verb does with the service.
type work func(cmd *cobra.Command, args []string, s session) error

// runs makes a verb of its work.
func (r *remote) runs(do work) func(*cobra.Command, []string) error { return opened(r.open, do) }

// runsForAnybody is runs for what needs no log-in.
func (r *remote) runsForAnybody(do work) func(*cobra.Command, []string) error {
	return opened(r.openForAnybody, do)
}

func opened(open func(*cobra.Command) (session, error), do work) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		s, err := open(cmd)
		if err != nil {
			return err
		}
		return do(cmd, args, s)
	}
}
