// Package doctor looks for what keeps a hooklog from running well: in its
// settings, on its machine, at its brokers and its identity provider. It is a list
// of named checks, one file for each subject; each gives findings, and each
// finding that is not in order says what to do now. It mends nothing and writes
// nothing anywhere, and needs no running service. Only cmd/cli imports it.
package doctor

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"hooklog/cmd/app"
	"hooklog/cmd/settings"
	"hooklog/transport/kafka/embedded"
)

// patience bounds every check that asks somebody else.
const patience = 5 * time.Second

// Status is how a finding is meant.
type Status string

// The statuses. A warning is what works now and may not for long, or not for
// everybody.
const (
	OK      Status = "ok"
	Warning Status = "warning"
	Failed  Status = "failed"
)

// Finding is one thing that was looked at.
type Finding struct {
	Check  string `json:"check"`
	Status Status `json:"status"`
	Found  string `json:"found"`
	// Todo is what to do now; empty where all is in order.
	Todo string `json:"todo,omitempty"`
}

// Deps are the collaborators.
type Deps struct {
	Now func() time.Time
	// Progress is told how many checks are done, until all are.
	Progress func(done, of int)
}

// examination is one run over one hooklog.
type examination struct {
	cfg  settings.Config
	deps app.Deps
	// held says that a service runs on the data folder.
	held bool
}

// check looks at one subject; it is named for what it finds first.
type check struct {
	name string
	run  func(ctx context.Context, n *notes)
}

func (e *examination) checks() []check {
	all := []check{
		{"data folder", e.folder},
		{"disk", e.disk},
		{"key ring", e.ring},
		{"clock", e.clock},
		{"listen", e.listen},
		{"ops-listen", e.opsListen},
		{"certificate", e.certificate},
		{"base URL", e.baseURL},
	}
	if e.cfg.Embedded() {
		all = append(all, check{"embedded log", e.embeddedLog}, check{"room", e.room}, check{"embedded-listen", e.window})
	} else {
		all = append(all, check{"open files", e.openFiles}, check{"brokers", e.brokers})
	}
	return append(all, check{"identity", e.identity})
}

// Settings are the findings about settings that cannot work; nothing else can be
// looked at until they are mended.
func Settings(faults error) Report {
	n := &notes{check: "settings", list: new([]Finding)}
	for fault := range strings.Lines(faults.Error()) {
		n.fail("mend it where it is set; hooklog serve --help lists every setting", "%s", strings.TrimRight(fault, "\n"))
	}
	return Report{*n.list}
}

// Examine makes all checks at once, for valid settings, and gives what they found
// in the order of the checks. It is given up with the end of ctx.
func Examine(ctx context.Context, cfg settings.Config, deps Deps) (Report, error) {
	e := &examination{cfg: cfg, deps: app.Deps{Log: slog.New(slog.DiscardHandler), Now: deps.Now}}
	e.held, _ = embedded.Held(cfg.DataDir) // a folder that cannot be read is a finding of its own
	checks := e.checks()
	found := make([][]Finding, len(checks))
	done := make(chan struct{}, len(checks)) // a check that outlives ctx is not waited for
	for i, c := range checks {
		go func() {
			c.run(ctx, &notes{check: c.name, list: &found[i]})
			done <- struct{}{}
		}()
	}
	for i := range checks {
		deps.Progress(i, len(checks))
		select {
		case <-done:
		case <-ctx.Done():
			return Report{}, ctx.Err()
		}
	}
	report := Report{[]Finding{{Check: "settings", Status: OK, Found: "they can be read and fit together"}}}
	for _, some := range found {
		report.Findings = append(report.Findings, some...)
	}
	return report, nil
}

// notes collects the findings of a check.
type notes struct {
	check string
	list  *[]Finding
}

// about gives notes on another subject that the same check has come upon.
func (n *notes) about(subject string) *notes { return &notes{subject, n.list} }

func (n *notes) ok(format string, args ...any) { n.add(OK, "", format, args) }

func (n *notes) warn(todo, format string, args ...any) { n.add(Warning, todo, format, args) }

func (n *notes) fail(todo, format string, args ...any) { n.add(Failed, todo, format, args) }

func (n *notes) add(status Status, todo, format string, args []any) {
	*n.list = append(*n.list, Finding{Check: n.check, Status: status, Found: fmt.Sprintf(format, args...), Todo: todo})
}
