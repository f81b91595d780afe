package cli

import (
	"encoding/json"

	"github.com/spf13/cobra"

	"hooklog/domain/catalog"
)

func newCheckpoint() *cobra.Command {
	cmd := group(&cobra.Command{
		Use:   "checkpoint",
		Short: "Sign how far the log has come, and see what was signed",
		Long: `Sign how far the log has come, and see what was signed. As a table it is the
signed note itself, as hooklog verify --checkpoint reads it.`,
		Example: `  hooklog checkpoint put -o table > checkpoint.txt   # to keep elsewhere`,
	})
	r := newRemote(cmd)
	signed := func(use, short, example, command string) *cobra.Command {
		return &cobra.Command{
			Use: use, Short: short, Args: cobra.NoArgs, Example: example,
			RunE: r.runs(func(cmd *cobra.Command, _ []string, s session) error {
				answer, err := s.ask(cmd, command)
				if err != nil {
					return err
				}
				var checkpoint struct{ Note string }
				if err := json.Unmarshal(answer, &checkpoint); err != nil {
					return err
				}
				return s.Text(answer, checkpoint.Note)
			}),
		}
	}
	cmd.AddCommand(
		signed("put", "Sign a checkpoint of all that is on the log now", `  hooklog checkpoint put`, catalog.CheckpointPut),
		signed("get", "Show the newest checkpoint", `  hooklog checkpoint put > signed.json && hooklog checkpoint get`, catalog.CheckpointGet),
	)
	return cmd
}
