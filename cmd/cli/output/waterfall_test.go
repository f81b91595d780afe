package output_test

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"hooklog/cmd/cli/output"
)

func TestAWaterfallIsScaledToTheWidth(t *testing.T) {
	at := func(ms float64) time.Time {
		return time.Unix(1_000_000, 0).Add(time.Duration(ms * float64(time.Millisecond)))
	}
	var out bytes.Buffer
	p := output.Printer{Out: &out, Err: &out, Format: output.Table, Color: output.Never}
	err := p.Waterfall([]output.Span{
		{Name: "received", Begin: at(0)},
		{Name: "on the log", Begin: at(0), End: at(10)},
		{Name: "run\x1b", Status: "error", Begin: at(10), End: at(40)},
		{Name: "waits", Status: "processing", Begin: at(20)},
		{Name: "completed", Status: "error", Begin: at(40)},
	})
	want := "" +
		"STAGE       STATUS      START    TIME\n" +
		"received    -           0.0 ms   -        |\n" +
		"on the log  -           0.0 ms   10.0 ms  ==========\n" +
		"run\\u001b   error       10.0 ms  30.0 ms           =============================\n" +
		"waits       processing  20.0 ms  -                          |\n" +
		"completed   error       40.0 ms  -                                             |\n"
	if err != nil || out.String() != want {
		t.Errorf("%v\n%s\nwant\n%s", err, out.String(), want)
	}
}

func TestAWaterfallOfOneMomentHasNoLength(t *testing.T) {
	var out bytes.Buffer
	p := output.Printer{Out: &out, Format: output.Table, Color: output.Always}
	now := time.Now()
	if err := p.Waterfall([]output.Span{{Name: "a", Begin: now, End: now}}); err != nil || !bytes.Contains(out.Bytes(), []byte("\x1b[32m|\x1b[0m")) {
		t.Errorf("%v %q", err, out.String())
	}
}

func TestALineOfAStreamIsHarmless(t *testing.T) {
	fields := []output.Field{{Text: "a", Width: 3}, {Column: "answer", Text: "200 OK\x1b[2J\nx"}}
	for format, want := range map[string]string{
		output.Table: "a    200 OK\\u001b[2J\\nx\n",
		output.JSON:  "{\"n\":1}\n",
		output.YAML:  "---\nn: 1\n",
	} {
		var out bytes.Buffer
		p := output.Printer{Out: &out, Format: format, Color: output.Never}
		if err := p.Follow(json.RawMessage(`{"n":1}`), fields...); err != nil || out.String() != want {
			t.Errorf("%s: %v %q", format, err, out.String())
		}
	}
}
