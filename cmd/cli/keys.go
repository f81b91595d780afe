package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"hooklog/transport/keyring"
)

func newKeys() *cobra.Command {
	cmd := group(&cobra.Command{
		Use:     "keys",
		Short:   "Make the keys that seal secrets on the log",
		Example: `  hooklog keys init ring`,
	})
	cmd.AddCommand(newKeysInit())
	return cmd
}

func newKeysInit() *cobra.Command {
	return &cobra.Command{
		Use:   "init FILE",
		Short: "Make a new key ring",
		Long: `Make a new key ring in FILE, readable by its owner only. A file that exists is
left as it is, because what was sealed with its keys could not be opened again.

All instances on one Kafka share one ring. Keep a copy in a safe place.`,
		Example: `  hooklog keys init ring
  hooklog serve --brokers kafka:9092 --key-ring ring`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := keyring.Create(args[0]); err != nil {
				return err
			}
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "Made %s. Keep a copy in a safe place.\n", args[0])
			return err
		},
	}
}
