package cli

import (
	"os"

	"github.com/spf13/cobra"

	"hooklog/cmd/app"
	"hooklog/cmd/settings"
)

func newRebuild() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "rebuild",
		Short: "Fold the log again from its beginning",
		Long: `Fold the log again from its beginning: the projections in the data folder are
dropped and made anew. It takes the same settings as serve; the service must be
stopped.

A log that has lost records which were folded before is refused, because a new
fold would hide the loss. If it cannot be restored from a backup,
--accept-truncation goes on with what is left, and puts on the record that it
was accepted.`,
		Example: `  hooklog rebuild --data-dir hooklog-data

  # The end of the log is lost for good:
  hooklog rebuild --data-dir hooklog-data --accept-truncation`,
		Args: cobra.NoArgs,
	}
	flags := settings.NewFlags(cmd.Flags())
	accept := cmd.Flags().Bool("accept-truncation", false, "go on with a log that has lost records, on the record")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		cfg, err := flags.Load(os.Environ())
		if err != nil {
			return errUsage{err}
		}
		return app.Rebuild(cmd.Context(), cfg, dependencies(cmd, cfg), *accept)
	}
	return cmd
}
