package proof_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hooklog/domain/proof"
	"hooklog/domain/record"
)

func checkpoint() proof.Checkpoint {
	command, call := grown(0, 5), grown(6, 11)
	command.Topic, command.Partition = record.TopicCommand, 0
	empty := new(proof.Tree)
	return proof.Checkpoint{
		Origin: "hooklog-0a1b2c3d",
		Time:   time.Date(2026, 3, 4, 5, 6, 7, 89_000_000, time.UTC),
		Heads:  []proof.Head{proof.HeadOf(record.TopicAccess, 0, empty), call, command},
	}
}

func golden(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Every signature that was ever given depends on this text.
func TestTheTextOfACheckpointStaysForEver(t *testing.T) {
	want := golden(t, "checkpoint.txt")
	if diff := cmp.Diff(want, checkpoint().Text()); diff != "" {
		t.Errorf("the text changed (-want +got):\n%s", diff)
	}
	got, err := proof.ParseCheckpoint(want)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(checkpoint(), got); diff != "" {
		t.Errorf("read back (-want +got):\n%s", diff)
	}
	t.Run("a moment elsewhere is the same moment", func(t *testing.T) {
		c := checkpoint()
		c.Time = c.Time.In(time.FixedZone("elsewhere", 3600))
		if c.Text() != want {
			t.Errorf("the text depends on the time zone:\n%s", c.Text())
		}
	})
}

func TestParseCheckpointRefusesAnythingElse(t *testing.T) {
	text := golden(t, "checkpoint.txt")
	lines := strings.SplitAfter(text, "\n")
	for name, spoilt := range map[string]string{
		"nothing":                     "",
		"no time":                     lines[0] + strings.Join(lines[2:], ""),
		"no newline at the end":       strings.TrimSuffix(text, "\n"),
		"an empty line":               text + "\n",
		"a carriage return":           strings.Replace(text, "\n", "\r\n", 1),
		"an origin of two words":      strings.Replace(text, "hooklog-", "hooklog ", 1),
		"two spaces":                  strings.Replace(text, "svc.call 2", "svc.call  2", 1),
		"a number with a zero before": strings.Replace(text, "svc.call 2", "svc.call 02", 1),
		"a negative partition":        strings.Replace(text, "svc.call 2", "svc.call -2", 1),
		"heads out of order":          lines[0] + lines[1] + lines[4] + lines[2] + lines[3],
		"a head twice":                lines[0] + lines[1] + lines[2] + lines[2],
		"begun at nothing":            strings.Replace(text, "begun=6", "begun=", 1),
		"begun at 0":                  strings.Replace(text, "begun=6", "begun=0", 1),
		"begun in other words":        strings.Replace(text, "begun=6", "6", 1),
		"a time in another zone":      strings.Replace(text, "05:06:07.089Z", "06:06:07.089+01:00", 1),
		"a time with zeros behind":    strings.Replace(text, "07.089Z", "07.0890Z", 1),
		"another size":                strings.Replace(text, "svc.command 0 5", "svc.command 0 7", 1),
		"a head without an edge":      lines[0] + lines[1] + "svc.call 0 1 " + strings.Fields(lines[3])[3] + "\n",
	} {
		t.Run(name, func(t *testing.T) {
			if spoilt == text {
				t.Fatal("nothing was spoilt")
			}
			if c, err := proof.ParseCheckpoint(spoilt); err == nil {
				t.Errorf("taken as %+v", c)
			}
		})
	}
}

func TestHeadFindsThePartition(t *testing.T) {
	c := checkpoint()
	if h, known := c.Head(record.TopicCall, 2); !known || h.Size != 11 || h.Begun != 6 {
		t.Errorf("head of svc.call/2 = %+v, %v", h, known)
	}
	if _, known := c.Head(record.TopicCall, 1); known {
		t.Error("a head of a partition that has none")
	}
}

func FuzzParseCheckpoint(f *testing.F) {
	f.Add(checkpoint().Text())
	f.Fuzz(func(t *testing.T, text string) {
		if c, err := proof.ParseCheckpoint(text); err == nil && c.Text() != text {
			t.Errorf("%q is written back as %q", text, c.Text())
		}
	})
}
