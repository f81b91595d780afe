package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/term"

	"hooklog/cmd/app"
	"hooklog/cmd/settings"
	"hooklog/cmd/verify"
	"hooklog/domain/record"
)

// errUntold marks that a check could not be made. It has an exit code of its own,
// because nothing wrong was found.
type errUntold struct{ error }

func (e errUntold) Unwrap() error { return e.error }

// verifyFlags are those beside the settings.
type verifyFlags struct {
	key, checkpoint, receipt, output string
}

func newVerify() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Check the log against what was signed of it",
		Long: `Check the log against what was signed of it: read every command, call and look,
compute their trees again and compare them with every signed checkpoint, then
compare every event with the digest that its accepted record names. It changes
nothing and asks no service.

An embedded log is read from its files; the service must be stopped, or a copy be
read. With --brokers it is read beside the service, with the broker settings and
the retentions of serve.

It ends with 0 when nothing differs, also where records are newer than the last
checkpoint; with 1 when something does, and names the first topic, partition and
offset; with 2 for wrong usage; with 3 when it could not tell.`,
		Example: `  hooklog verify --data-dir hooklog-data

  # With what was kept elsewhere, so that an older log is noticed too:
  hooklog verify --data-dir copy --key checkpoint.pub --checkpoint https://vault.example.org/hooklog

  # On Kafka:
  hooklog verify --brokers kafka:9092 --key checkpoint.pub --call-retention 720h

  # A receipt, offline:
  hooklog verify --receipt receipt.json --key checkpoint.pub`,
		Args: cobra.NoArgs,
	}
	var given verifyFlags
	own := cmd.Flags()
	own.StringVar(&given.key, "key", "", "file with the public key that must have signed (default: keys/checkpoint.pub in the data folder; required with brokers)")
	own.StringVar(&given.checkpoint, "checkpoint", "", "file or https:// URL of a signed checkpoint that was kept outside")
	own.StringVar(&given.receipt, "receipt", "", "file with a receipt to check in place of a log")
	own.StringVarP(&given.output, "output", "o", "table", "form of the report: table or json")
	flags := settings.NewFlags(own)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		cfg, err := flags.LoadToRead(os.Environ())
		if err = errors.Join(err, given.check(cfg)); err != nil {
			return errUsage{err}
		}
		key, err := verify.ReadKey(given.keyPath(cfg))
		if err != nil {
			return errUntold{err}
		}
		if given.receipt != "" {
			return given.verifyReceipt(cmd.OutOrStdout(), key)
		}
		return given.verifyLog(cmd, cfg, key)
	}
	return cmd
}

func (f verifyFlags) check(cfg settings.Config) error {
	switch {
	case f.output != "table" && f.output != "json":
		return fmt.Errorf("output: %q is not known; write one of table, json", f.output)
	case f.key == "" && !cfg.Embedded():
		return errors.New("key: is required with brokers; it is keys/checkpoint.pub in the data folder of an instance")
	case f.receipt != "" && f.checkpoint != "":
		return errors.New("checkpoint: a receipt brings its own; leave one of them out")
	}
	return nil
}

func (f verifyFlags) keyPath(cfg settings.Config) string {
	if f.key != "" {
		return f.key
	}
	return cfg.CheckpointKeyPath()
}

func (f verifyFlags) verifyReceipt(out io.Writer, key note.Verifier) error {
	text, err := os.ReadFile(f.receipt)
	if err != nil {
		return errUntold{err}
	}
	proved, err := verify.CheckReceipt(text, key)
	if err != nil {
		return fmt.Errorf("%s proves nothing: %w", f.receipt, err)
	}
	return f.write(out, proved)
}

func (f verifyFlags) verifyLog(cmd *cobra.Command, cfg settings.Config, key note.Verifier) (err error) {
	ctx := cmd.Context()
	opts := verify.Options{Key: key, Retention: retentions(cfg), Now: time.Now()}
	if f.checkpoint != "" {
		if opts.Outside, err = verify.ReadCheckpoint(ctx, f.checkpoint); err != nil {
			return errUntold{fmt.Errorf("the outside checkpoint: %w", err)}
		}
	}
	log, closeLog, err := openToVerify(cmd, cfg, &opts)
	if err != nil {
		return errUntold{err}
	}
	defer func() { _ = closeLog() }() // it was only read, and no code says that closing failed
	var finish func()
	opts.Progress, finish = readingBar(cmd.ErrOrStderr())
	report, err := verify.Run(ctx, log, opts)
	finish()
	if err != nil {
		return errUntold{err}
	}
	if err := f.write(cmd.OutOrStdout(), report); err != nil {
		return errUntold{err}
	}
	if len(report.Differences) > 0 {
		return fmt.Errorf("the log is not what was signed: %s", report.Differences[0])
	}
	return nil
}

// openToVerify opens the log, and beside an embedded one what its service stored.
func openToVerify(cmd *cobra.Command, cfg settings.Config, opts *verify.Options) (verify.Log, func() error, error) {
	logger := newLogger(cmd.ErrOrStderr(), cfg)
	if !cfg.Embedded() {
		log, err := app.OpenBrokers(cfg, logger)
		if err != nil {
			return nil, nil, err
		}
		if err := reachable(cmd.Context(), log.Ping); err != nil {
			log.Close()
			return nil, nil, err
		}
		return verify.Brokers{Log: log}, func() error { log.Close(); return nil }, nil
	}
	folder, err := verify.OpenFolder(cfg.DataDir)
	if err != nil {
		return nil, nil, err
	}
	stored, err := verify.OpenStored(cfg.StateDir(), logger)
	if err != nil {
		logger.Warn("The projections cannot be read; a difference will be named by the checkpoints around it", "error", err)
	}
	if stored == nil {
		return folder, folder.Close, nil
	}
	opts.Leaves = stored
	return folder, func() error { return errors.Join(stored.Close(), folder.Close()) }, nil
}

const reachTime = 15 * time.Second

// reachable asks the brokers once with a deadline; all later requests wait.
func reachable(ctx context.Context, ping func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, reachTime)
	defer cancel()
	return ping(ctx)
}

// retentions are those that the settings give to the topics.
func retentions(cfg settings.Config) func(topic string) time.Duration {
	return func(topic string) time.Duration {
		switch {
		case topic == record.TopicCall:
			return cfg.CallRetention
		case topic == record.TopicAccess:
			return cfg.AccessRetention
		case strings.HasPrefix(topic, record.EventTopicPrefix):
			return cfg.EventRetention
		}
		return 0
	}
}

// readable is what can be written for people; programs get it as JSON.
type readable interface{ Write(w io.Writer) error }

func (f verifyFlags) write(out io.Writer, r readable) error {
	if f.output == "table" {
		return r.Write(out)
	}
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(r)
}

// readingBar shows how far the reading is, on a terminal only.
func readingBar(w io.Writer) (show func(done, of int64), finish func()) {
	file, is := w.(*os.File)
	if !is || !term.IsTerminal(int(file.Fd())) {
		return nil, func() {}
	}
	bar := progressbar.NewOptions64(-1, progressbar.OptionSetWriter(w), progressbar.OptionSetDescription("Reading"),
		progressbar.OptionShowIts(), progressbar.OptionSetItsString("records"), progressbar.OptionClearOnFinish(),
		progressbar.OptionThrottle(100*time.Millisecond))
	return func(done, of int64) {
		bar.ChangeMax64(of)
		_ = bar.Set64(done) // it is only shown
	}, func() { _ = bar.Finish() }
}
