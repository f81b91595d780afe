package cli

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/spf13/cobra"

	"hooklog/cmd/app"
	"hooklog/cmd/settings"
)

// drainTime is how long calls in flight may take to end after the signal. With
// what closes behind them, the end takes at most 25 s.
const drainTime = 20 * time.Second

func newServe() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the service until it gets a signal",
		Long: `Run the service until it gets a signal.

Every flag is also a key of the file given by --config, and an environment
variable: --data-dir is data-dir in the file and HOOKLOG_DATA_DIR outside.
Flags win over the environment, which wins over the file.

Passwords are never flags: set HOOKLOG_ADMIN_PASSWORD and, with
--embedded-listen, HOOKLOG_EMBEDDED_READER_PASSWORD (each is made into the data
folder when it is not set), and HOOKLOG_BROKER_PASSWORD.

SIGTERM and SIGINT end it in order: it stops being ready, finishes the calls in
flight, and closes the log. A second signal ends it at once.`,
		Example: `  # On this machine, with its own log in ./hooklog-data:
  hooklog serve

  # Let Kafka clients on this machine read the events:
  hooklog serve --embedded-listen 127.0.0.1:9092

  # On Kafka, behind a proxy:
  hooklog serve --brokers one:9092,two:9092,three:9092 --broker-tls \
    --key-ring /etc/hooklog/ring --listen :8080 --base-url https://hooks.example.org`,
		Args: cobra.NoArgs,
	}
	flags := settings.NewFlags(cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		cfg, err := flags.Load(os.Environ())
		if err != nil {
			return errUsage{err}
		}
		return serve(cmd.Context(), cfg, dependencies(cmd, cfg))
	}
	return cmd
}

// serve runs until ctx ends, or until the service cannot go on.
func serve(ctx context.Context, cfg settings.Config, deps app.Deps) error {
	running, err := app.Start(ctx, cfg, deps)
	if err != nil {
		if ctx.Err() != nil && errors.Is(err, context.Canceled) {
			return nil // told to stop before it served
		}
		return err
	}

	var failure error
	select {
	case <-ctx.Done():
	case failure = <-running.Failed():
	}
	draining, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTime)
	defer cancel()
	return errors.Join(failure, running.Stop(draining))
}

// dependencies are the collaborators of a real process.
func dependencies(cmd *cobra.Command, cfg settings.Config) app.Deps {
	return app.Deps{Log: newLogger(cmd.ErrOrStderr(), cfg), Out: cmd.OutOrStdout(), Now: time.Now, Version: version}
}

func newLogger(out io.Writer, cfg settings.Config) *slog.Logger {
	var level slog.Level
	// Validate has seen the level; an unknown one would mean info.
	_ = level.UnmarshalText([]byte(cfg.LogLevel))
	options := &slog.HandlerOptions{Level: level}
	if cfg.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(out, options))
	}
	return slog.New(slog.NewTextHandler(out, options))
}
