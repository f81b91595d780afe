package cli

import (
	"os"

	"github.com/spf13/cobra"

	"hooklog/cmd/app"
	"hooklog/cmd/settings"
)

func newAdmin() *cobra.Command {
	cmd := group(&cobra.Command{
		Use:     "admin",
		Short:   "Look after the administrator",
		Example: `  hooklog admin reset --data-dir hooklog-data`,
	})
	cmd.AddCommand(newAdminReset())
	return cmd
}

func newAdminReset() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "reset",
		Short: "Give the administrator a new password",
		Long: `Give the administrator a new password: the one in HOOKLOG_ADMIN_PASSWORD, or
else one that is made into the data folder. It takes the same settings as serve.
With the embedded log the service must be stopped, because one process owns it.`,
		Example: `  # A password that hooklog makes:
  hooklog admin reset --data-dir hooklog-data

  # A password of your own, which the shell does not keep:
  read -rs HOOKLOG_ADMIN_PASSWORD && export HOOKLOG_ADMIN_PASSWORD
  hooklog admin reset --data-dir hooklog-data`,
		Args: cobra.NoArgs,
	}
	flags := settings.NewFlags(cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		cfg, err := flags.Load(os.Environ())
		if err != nil {
			return errUsage{err}
		}
		return app.ResetAdmin(cmd.Context(), cfg, dependencies(cmd, cfg))
	}
	return cmd
}
