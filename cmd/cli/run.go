package cli

import (
	"net/url"

	"github.com/spf13/cobra"

	"hooklog/domain/catalog"
)

func newRun() *cobra.Command {
	cmd := group(&cobra.Command{
		Use:     "run",
		Short:   "See what became of the runs of pipelines, and run failed ones again",
		Example: `  hooklog run list --status error`,
	})
	r := newRemote(cmd)
	cmd.AddCommand(newRunList(r), newRunShow(r), newRunRetry(r))
	return cmd
}

func newRunList(r *remote) *cobra.Command {
	cmd := &cobra.Command{
		Use: "list", Short: "List runs, newest first", Args: cobra.NoArgs,
		Example: `  hooklog run list --pipeline orders --limit 5
  hooklog run list --status error --from 2026-01-01T00:00:00Z`,
	}
	flags := cmd.Flags()
	pipeline := flags.String("pipeline", "", "only those of this pipeline")
	status := flags.String("status", "", "only those that are processing, ok or error")
	from := flags.String("from", "", "only calls received at this time (RFC 3339) or later")
	to := flags.String("to", "", "only calls received before this time (RFC 3339)")
	limit := flags.String("limit", "20", "how many, 1 to 1000")
	fixed(cmd, "status", []string{"processing", "ok", "error"})
	complete(cmd, "pipeline", r.pipelineNames)
	cmd.RunE = r.runs(func(cmd *cobra.Command, _ []string, s session) error {
		answer, err := s.ask(cmd, catalog.RunGet, "pipeline", *pipeline, "status", *status, "from", *from, "to", *to, "limit", *limit)
		if err != nil {
			return err
		}
		return s.Value(answer, runColumns...)
	})
	return cmd
}

func newRunShow(r *remote) *cobra.Command {
	return &cobra.Command{
		Use: "show CORRELATION_ID", Short: "Show the runs of one call, with their errors", Args: cobra.ExactArgs(1),
		Example: `  hooklog run show $CORRELATION_ID
  hooklog run show $CORRELATION_ID -o yaml`,
		RunE: r.runs(func(cmd *cobra.Command, args []string, s session) error {
			return s.list(cmd, catalog.RunGet, url.Values{"correlationId": {args[0]}},
				[]string{"pipeline", "version", "attempt", "status", "started", "finished", "effective", "error"})
		}),
	}
}

func newRunRetry(r *remote) *cobra.Command {
	cmd := &cobra.Command{
		Use: "retry CORRELATION_ID", Short: "Run the pipelines of a call again that failed", Args: cobra.ExactArgs(1),
		Example: `  hooklog run retry $CORRELATION_ID`,
	}
	pipeline := cmd.Flags().String("pipeline", "", "only this one; default all that failed")
	complete(cmd, "pipeline", r.pipelineNames)
	cmd.RunE = r.runs(func(cmd *cobra.Command, args []string, s session) error {
		answer, err := s.ask(cmd, catalog.RunRetry, "correlationId", args[0], "pipeline", *pipeline)
		if err != nil {
			return err
		}
		return s.Value(answer, runColumns...)
	})
	return cmd
}
