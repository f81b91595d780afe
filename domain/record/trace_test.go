package record_test

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"hooklog/domain/record"
)

const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

func TestATraceparent(t *testing.T) {
	c := record.ParseTraceContext(traceparent)
	t.Run("is read and written", func(t *testing.T) {
		if c.IsZero() || !c.Sampled || c.String() != traceparent {
			t.Errorf("read as %+v, written as %q", c, c.String())
		}
		if c.Trace() != traceparent[3:35] || c.Span() != traceparent[36:52] {
			t.Errorf("trace %q, span %q", c.Trace(), c.Span())
		}
	})
	t.Run("that is not sampled says so", func(t *testing.T) {
		quiet := traceparent[:53] + "00"
		if c := record.ParseTraceContext(quiet); c.Sampled || c.String() != quiet {
			t.Errorf("read as %+v", c)
		}
	})
	t.Run("with other flags has the one that counts", func(t *testing.T) {
		if c := record.ParseTraceContext(traceparent[:53] + "03"); !c.Sampled || c.String() != traceparent {
			t.Errorf("read as %+v", c)
		}
	})
	t.Run("of a later version is read as far as it is known", func(t *testing.T) {
		if got := record.ParseTraceContext("01" + traceparent[2:] + "-more"); got != c {
			t.Errorf("read as %+v, want %+v", got, c)
		}
	})
	for name, text := range map[string]string{
		"that is empty":                 "",
		"that is too short":             traceparent[:54],
		"of version 00 that goes on":    traceparent + "-00",
		"of the forbidden version":      "ff" + traceparent[2:],
		"of a later version, run on":    "01" + traceparent[2:] + "x",
		"in upper case":                 strings.ToUpper(traceparent),
		"without a trace":               "00-" + strings.Repeat("0", 32) + traceparent[35:],
		"without a span":                traceparent[:36] + strings.Repeat("0", 16) + "-01",
		"with other separators":         strings.ReplaceAll(traceparent, "-", "_"),
		"with a digit that is not hex":  traceparent[:54] + "g",
		"with a version that is no hex": "0x" + traceparent[2:],
	} {
		t.Run(name+" is none", func(t *testing.T) {
			if c := record.ParseTraceContext(text); c != (record.TraceContext{}) || c.String() != "" {
				t.Errorf("read as %+v", c)
			}
		})
	}
	t.Run("of any place is read again", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			c := record.TraceContext{Sampled: rapid.Bool().Draw(t, "sampled")}
			for i := range c.TraceID {
				c.TraceID[i] = rapid.Byte().Draw(t, "trace id")
			}
			for i := range c.SpanID {
				c.SpanID[i] = rapid.Byte().Draw(t, "span id")
			}
			want := c
			if c.IsZero() {
				want = record.TraceContext{}
			}
			if got := record.ParseTraceContext(c.String()); got != want {
				t.Fatalf("%+v became %+v", want, got)
			}
		})
	})
}

// The headers are on logs that exist, and others read them: they stay for ever.
func TestARecordFollowsATrace(t *testing.T) {
	c := record.ParseTraceContext(traceparent)
	of := []record.Header{
		{Key: "traceparent", Value: []byte(traceparent)},
		{Key: "svc-trace-id", Value: []byte("6789ab:abcdefghij")},
		{Key: "svc-event-key", Value: []byte("webhook.orders")},
	}
	for name, tt := range map[string]struct {
		traceID, eventKey string
		want              []record.Header
	}{
		"of a call":  {"6789ab:abcdefghij", "webhook.orders", of},
		"of no call": {"", "", of[:1]},
	} {
		t.Run(name, func(t *testing.T) {
			r := record.Record{Headers: []record.Header{{Key: "svc-type", Value: []byte("x/1")}}}
			r.Follow(c, tt.traceID, tt.eventKey)
			if diff := cmp.Diff(tt.want, r.Headers[1:]); diff != "" {
				t.Errorf("headers (-want +got):\n%s", diff)
			}
			if got := r.TraceContext(); got != c {
				t.Errorf("it follows %v, want %v", got, c)
			}
		})
	}
}

// What strangers send and others write on topics: the grammar of W3C is the oracle.
func FuzzParseTraceContext(f *testing.F) {
	grammar := regexp.MustCompile(`^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-(?s:.*))?$`)
	for _, seed := range []string{"", traceparent, traceparent + "-", "cc" + traceparent[2:] + "-what-the-future-brings", "ff" + traceparent[2:], strings.ToUpper(traceparent)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		want := ""
		if m := grammar.FindStringSubmatch(s); len(m) > 0 && m[1] != "ff" && (m[1] != "00" || m[5] == "") &&
			strings.Trim(m[2], "0") != "" && strings.Trim(m[3], "0") != "" {
			flags, _ := strconv.ParseUint(m[4], 16, 8)
			want = fmt.Sprintf("00-%s-%s-%02d", m[2], m[3], flags&1)
		}
		if got := record.ParseTraceContext(s); got.String() != want || want == "" && got != (record.TraceContext{}) {
			t.Fatalf("%q is read as %q, want %q", s, got, want)
		}
	})
}
