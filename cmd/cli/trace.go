package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"hooklog/cmd/cli/output"
	"hooklog/domain/catalog"
)

var (
	traceColumns = []string{"received", "traceId", "status", "method", "size", "eventKey", "correlationId"}
	callColumns  = []string{"traceId", "correlationId", "eventKey", "status", "received", "method", "size", "address", "call"}
)

func newTrace() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "trace WEBHOOK | TRACE_ID | CORRELATION_ID",
		Short: "Find calls, and see where one spent its time",
		Long: `Find calls. A webhook, named by its event key or by the last six characters of
its token, gives a list of its calls, the newest first. A trace id or a
correlation id gives one call with all that became of it: when it was received
and on the log, each run with its steps, and when it was complete.`,
		Example: `  hooklog trace webhook.orders --limit 5
  hooklog trace ${UUID: -6} --from 2026-01-01T00:00:00Z
  hooklog trace $CORRELATION_ID
  hooklog checkpoint put > signed.json && hooklog trace $CORRELATION_ID --receipt receipt.json`,
		Args: cobra.ExactArgs(1),
	}
	r := newRemote(cmd)
	cmd.ValidArgsFunction = firstArgument(r.eventKeys)
	when := newPeriod(cmd, "calls received")
	receipt := cmd.Flags().String("receipt", "", "file to write the proof to that the call is on the log, for hooklog verify --receipt")
	cmd.RunE = r.runs(func(cmd *cobra.Command, args []string, s session) error {
		params, one, err := s.traced(cmd, args[0])
		if err != nil {
			return err
		}
		if *receipt != "" {
			if !one {
				return errUsage{errors.New("a receipt is for one call; name it by its trace id or correlation id")}
			}
			params.Set("receipt", "true")
		}
		rows, err := when.rows(cmd, s, catalog.TraceGet, params)
		switch {
		case err != nil:
			return err
		case one && len(rows) == 0:
			return errors.New("there is no such call that you may see")
		case *receipt != "":
			if err := s.saveReceipt(*receipt, rows); err != nil {
				return err
			}
		}
		if !one || !s.ForPeople() {
			return s.Value(joined(rows), traceColumns...)
		}
		return s.waterfalls(rows)
	})
	return cmd
}

var last6Form = regexp.MustCompile(`^[0-9a-f]{6}$`)

// traced tells what somebody who wrote name looks for, and whether it is one call.
func (s session) traced(cmd *cobra.Command, name string) (params url.Values, one bool, err error) {
	switch {
	case strings.Contains(name, ":"):
		return url.Values{"traceId": {name}}, true, nil
	case uuid.Validate(name) == nil:
		return url.Values{"correlationId": {name}}, true, nil
	case last6Form.MatchString(name): // also of a webhook that is deleted
		return url.Values{"last6": {name}}, false, nil
	}
	w, err := s.listed(cmd, name)
	return url.Values{"last6": {w.last6()}, "eventKey": {w.EventKey}}, false, err
}

func (s session) saveReceipt(path string, rows []json.RawMessage) error {
	if len(rows) != 1 {
		return fmt.Errorf("%d calls have this trace id; name one by its correlation id", len(rows))
	}
	var call struct{ Receipt json.RawMessage }
	if err := json.Unmarshal(rows[0], &call); err != nil {
		return err
	}
	if err := writeFile(path, call.Receipt); err != nil {
		return fmt.Errorf("write the receipt: %w", err)
	}
	s.Message("the receipt is in %s; hooklog verify --receipt checks it with the pinned key", path)
	return nil
}

// tracedCall is what is shown of a call over time.
type tracedCall struct {
	Status                      string
	Received, Logged, Completed time.Time
	Runs                        []struct {
		Pipeline, Status  string
		Version, Attempt  int
		Started, Finished time.Time
		Steps             []struct {
			Path, Command     string
			Started, Finished time.Time
			Failed            bool
		}
	}
}

// waterfalls shows calls one below the other; a trace id has more than one where
// pipelines sent events on.
func (s session) waterfalls(rows []json.RawMessage) error {
	for i, row := range rows {
		var call tracedCall
		if err := json.Unmarshal(row, &call); err != nil {
			return err
		}
		if i > 0 {
			_, _ = fmt.Fprintln(s.Out)
		}
		if err := s.Value(row, callColumns...); err != nil {
			return err
		}
		_, _ = fmt.Fprintln(s.Out)
		if err := s.Waterfall(call.stages()); err != nil {
			return err
		}
	}
	return nil
}

func (c tracedCall) stages() []output.Span {
	stages := []output.Span{
		{Name: "received", Begin: c.Received},
		{Name: "on the log", Begin: c.Received, End: c.Logged},
	}
	for _, run := range c.Runs {
		if run.Started.IsZero() { // it waits for a runner, or its runner does not tell yet
			run.Started = c.Logged
		}
		name := fmt.Sprintf("%s@%d", run.Pipeline, run.Version)
		if run.Attempt > 1 {
			name += fmt.Sprintf(" attempt %d", run.Attempt)
		}
		stages = append(stages, output.Span{Name: name, Status: run.Status, Begin: run.Started, End: run.Finished})
		for _, step := range run.Steps {
			status := "ok"
			if step.Failed {
				status = "error"
			}
			stages = append(stages, output.Span{Name: "  " + step.Path + " " + step.Command, Status: status, Begin: step.Started, End: step.Finished})
		}
	}
	if !c.Completed.IsZero() {
		stages = append(stages, output.Span{Name: "completed", Status: c.Status, Begin: c.Completed})
	}
	return stages
}
