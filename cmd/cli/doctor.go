package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"hooklog/cmd/doctor"
	"hooklog/cmd/settings"
)

func newDoctor() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Look for what keeps the service from running well",
		Long: `Look for what keeps the service from running well, and say what to do: settings,
data folder, disk, key ring, open files, memory, clock, certificate, addresses,
the embedded log or the brokers with their topics and permissions, and the
identity provider.

It takes the same settings as serve and changes nothing anywhere. Run it as the
service's user, whether the service runs or not; an embedded log is read whole
only while no service runs on it.

It exits with 0 when nothing failed (there may be warnings), with 1 otherwise.`,
		Example: `  hooklog doctor --data-dir hooklog-data

  # On Kafka, before the first start:
  hooklog doctor --brokers one:9092,two:9092,three:9092 --broker-tls --key-ring /etc/hooklog/ring

  # For a script:
  hooklog doctor --data-dir hooklog-data -o json`,
		Args: cobra.NoArgs,
	}
	flags := settings.NewFlags(cmd.Flags())
	form := cmd.Flags().StringP("output", "o", "table", "form of the report: table or json")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if *form != "table" && *form != "json" {
			return errUsage{fmt.Errorf("output: %q is not known; write one of table, json", *form)}
		}
		report, err := examine(cmd, flags)
		if err != nil {
			return err
		}
		write := report.WriteTable
		if *form == "json" {
			write = report.WriteJSON
		}
		if err := write(cmd.OutOrStdout()); err != nil {
			return err
		}
		if report.Status() == doctor.Failed {
			return errors.New("not everything is in order")
		}
		return nil
	}
	return cmd
}

func examine(cmd *cobra.Command, flags *settings.Flags) (doctor.Report, error) {
	cfg, faults := flags.Load(os.Environ())
	if faults != nil {
		return doctor.Settings(faults), nil
	}
	show, wipe := progressLine(cmd.ErrOrStderr())
	defer wipe()
	return doctor.Examine(cmd.Context(), cfg, doctor.Deps{Now: time.Now, Progress: show})
}

// progressLine shows on a terminal how far the doctor is, and nothing elsewhere.
func progressLine(out io.Writer) (show func(done, of int), wipe func()) {
	file, is := out.(*os.File)
	if !is || !term.IsTerminal(int(file.Fd())) {
		return func(int, int) {}, func() {}
	}
	const home = "\r\x1b[K" // to the beginning of an empty line
	show = func(done, of int) { _, _ = fmt.Fprintf(file, home+"%d of %d checks are done", done, of) }
	return show, func() { _, _ = fmt.Fprint(file, home) }
}
