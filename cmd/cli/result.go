package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
)

func newResult() *cobra.Command {
	cmd := group(&cobra.Command{
		Use:     "result",
		Short:   "Get the result of a call",
		Example: `  hooklog result wait $CORRELATION_ID`,
	})
	r := newRemote(cmd)
	cmd.AddCommand(&cobra.Command{
		Use: "get CORRELATION_ID", Short: "Get the result of a call as it is now", Args: cobra.ExactArgs(1),
		Example: `  hooklog result get $CORRELATION_ID`,
		RunE: r.runsForAnybody(func(cmd *cobra.Command, args []string, s session) error {
			answer, err := s.Result(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return s.Value(answer)
		}),
	}, newResultWait(r))
	return cmd
}

func newResultWait(r *remote) *cobra.Command {
	cmd := &cobra.Command{
		Use: "wait CORRELATION_ID", Short: "Wait until a call has its result", Args: cobra.ExactArgs(1),
		Example: `  hooklog result wait $CORRELATION_ID --timeout 5m`,
	}
	timeout := cmd.Flags().Duration("timeout", 0, "how long to wait; default until there is one")
	cmd.RunE = r.runsForAnybody(func(cmd *cobra.Command, args []string, s session) error {
		if *timeout > 0 {
			ctx, cancel := context.WithTimeout(cmd.Context(), *timeout)
			defer cancel()
			cmd.SetContext(ctx)
		}
		err := s.await(cmd, args[0])
		if errors.Is(err, context.DeadlineExceeded) && cmd.Context().Err() != nil {
			return fmt.Errorf("there is no result after %s", timeout.Round(time.Millisecond))
		}
		return err
	})
	return cmd
}
