package verify

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"hooklog/domain/record"
)

// Report says what was checked, how far, and what differs.
type Report struct {
	// Key is the name of the pinned key, which is the log's origin.
	Key string `json:"key"`
	// Records were read.
	Records int64 `json:"records"`
	// Checkpoints on the log are signed with the key, the newest at Newest.
	Checkpoints int64     `json:"checkpoints"`
	Newest      time.Time `json:"newest,omitzero"`
	// Outside is when the checkpoint was signed that was kept outside. Without it
	// nobody can tell that a whole log is an older one.
	Outside time.Time `json:"outside,omitzero"`
	Trees   []Tree    `json:"trees"`
	Events  Events    `json:"events"`
	// Differences are the first of each partition, those of the trees first.
	Differences []Difference `json:"differences"`
}

// Tree says how far the records of a partition are proved: those from From to
// before Proved are what was signed. Unproven are newer than the last checkpoint.
type Tree struct {
	Topic     string `json:"topic"`
	Partition int32  `json:"partition"`
	Start     int64  `json:"start"`
	From      int64  `json:"from"`
	Proved    int64  `json:"proved"`
	End       int64  `json:"end"`
	Unproven  int64  `json:"unproven"`
}

// Events counts events.
type Events struct {
	// Checked are as their accepted records say.
	Checked int64 `json:"checked"`
	// Expired are gone, after their retention.
	Expired int64 `json:"expired"`
	// Unacknowledged have no accepted record: their callers were never told that
	// the call was taken.
	Unacknowledged int64 `json:"unacknowledged"`
}

// Difference is where a partition is not what was signed.
type Difference struct {
	Topic     string `json:"topic"`
	Partition int32  `json:"partition"`
	// Offset is that of the first record that differs. Where only checkpoints tell,
	// it lies somewhere from there to before To.
	Offset int64  `json:"offset"`
	To     int64  `json:"to,omitempty"`
	Reason string `json:"reason"`
}

func differenceAt(at record.Position, reason string, args ...any) Difference {
	return Difference{Topic: at.Topic, Partition: at.Partition, Offset: at.Offset, Reason: fmt.Sprintf(reason, args...)}
}

func (d Difference) String() string {
	at := record.Position{Topic: d.Topic, Partition: d.Partition, Offset: d.Offset}.String()
	if d.To > 0 {
		at = fmt.Sprintf("%s to before %d", at, d.To)
	}
	return at + ": " + d.Reason
}

// conclude puts the report in order.
func (r *run) conclude() {
	r.report.Records = r.done
	r.report.Trees = []Tree{}
	for _, t := range r.trees {
		r.report.Trees = append(r.report.Trees, t.report())
	}
	r.report.Differences = []Difference{}
	for _, p := range slices.SortedFunc(maps.Keys(r.found), byPlace) {
		r.report.Differences = append(r.report.Differences, r.found[p])
	}
}

// Write writes the report for people.
func (r Report) Write(w io.Writer) error {
	p := printer{w: w}
	p.line("Read %d records, and %d checkpoints signed by %s%s.", r.Records, r.Checkpoints, r.Key, at(", the newest at ", r.Newest))
	for _, t := range r.Trees {
		p.line("  %s/%d: proved to %d, %d newer unproven%s", t.Topic, t.Partition, t.Proved, t.Unproven, t.before())
	}
	p.line("  events: %d as accepted, %d gone after their retention, %d never acknowledged", r.Events.Checked, r.Events.Expired, r.Events.Unacknowledged)
	if r.Outside.IsZero() {
		p.line("Rollback not checked: there is no outside checkpoint (--checkpoint).")
	} else {
		p.line("Rollback checked against the outside checkpoint of %s.", r.Outside.Format(time.RFC3339))
	}
	for _, d := range r.Differences {
		p.line("DIFFERS %s", d)
	}
	if len(r.Differences) == 0 {
		p.line("Nothing differs.")
	}
	return p.err
}

// before says what of the beginning is gone or cannot be proved.
func (t Tree) before() (text string) {
	if t.Start > 0 {
		text = fmt.Sprintf("; what was before %d is gone after its retention", t.Start)
	}
	if t.From > t.Start && t.Proved > t.Start {
		text += fmt.Sprintf("; those before %d cannot be proved any more", t.From)
	}
	return text
}

func at(before string, t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return before + t.Format(time.RFC3339)
}

// printer keeps the first error.
type printer struct {
	w   io.Writer
	err error
}

func (p *printer) line(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format+"\n", args...)
	}
}
