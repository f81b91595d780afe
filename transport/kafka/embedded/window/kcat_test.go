package window_test

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
)

// kcat runs the real kcat (librdkafka) against the window.
func (h *house) kcat(t *testing.T, stdin string, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*patience)
	defer cancel()
	command := exec.CommandContext(ctx, "kcat", append([]string{
		"-b", h.window.Addr().String(),
		"-X", "security.protocol=SASL_PLAINTEXT", "-X", "sasl.mechanism=PLAIN",
		"-X", "sasl.username=reader", "-X", "sasl.password=" + password,
	}, args...)...)
	var out, problems bytes.Buffer
	command.Stdin, command.Stdout, command.Stderr = strings.NewReader(stdin), &out, &problems
	err = command.Run()
	if ctx.Err() != nil {
		t.Fatalf("kcat %v did not end: %s", args, problems.String())
	}
	return out.String(), problems.String(), err
}

func TestKcat(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("kcat"); err != nil {
		t.Skip("kcat is not installed: the window is tested with franz-go only")
	}
	h := open(t)
	h.append(t, eventTopic, 0, 3)

	t.Run("reads records and headers without stalling", func(t *testing.T) {
		begin := time.Now()
		out, problems, err := h.kcat(t, "", "-C", "-t", eventTopic, "-o", "beginning", "-e", "-f", "%h %s\n")
		want := "ce_id=id-0 " + eventTopic + " 0\nce_id=id-1 " + eventTopic + " 1\nce_id=id-2 " + eventTopic + " 2\n"
		if err != nil || out != want {
			t.Errorf("reads %q, %v: %s", out, err, problems)
		}
		if took := time.Since(begin); took > 5*time.Second {
			t.Errorf("took %s", took)
		}
	})
	t.Run("goes on after the committed offset of its group", func(t *testing.T) {
		group := []string{"-X", "auto.offset.reset=earliest", "-e", "-f", "%o ", "-G", "kcats", eventTopic}
		for _, want := range []string{"0 1 2 ", "", "3 "} {
			if want == "3 " {
				h.append(t, eventTopic, 3, 4)
			}
			if out, problems, err := h.kcat(t, "", group...); err != nil || out != want {
				t.Errorf("reads %q, want %q, %v: %s", out, want, err, problems)
			}
		}
	})
	t.Run("does not see the hidden topic", func(t *testing.T) {
		out, problems, err := h.kcat(t, "", "-L")
		if err != nil || !strings.Contains(out, eventTopic) || strings.Contains(out, hidden) {
			t.Errorf("lists %q, %v: %s", out, err, problems)
		}
		out, problems, err = h.kcat(t, "", "-C", "-t", hidden, "-o", "beginning", "-e")
		if err == nil || out != "" || !strings.Contains(problems, "Unknown topic") {
			t.Errorf("reads %q, %v: %s", out, err, problems)
		}
	})
	t.Run("is refused when it writes", func(t *testing.T) {
		_, problems, err := h.kcat(t, "intruder\n", "-P", "-t", eventTopic)
		var exit *exec.ExitError
		if !errors.As(err, &exit) || !strings.Contains(problems, "Topic authorization failed") {
			t.Errorf("ends with %v: %s", err, problems)
		}
		ends, err := kadm.NewClient(h.own).ListEndOffsets(t.Context(), eventTopic)
		must(t, err)
		if end, _ := ends.Lookup(eventTopic, 0); end.Offset != 4 {
			t.Errorf("%s ends at %d, want 4", eventTopic, end.Offset)
		}
	})
	t.Run("is refused in a group of the service", func(t *testing.T) {
		out, problems, err := h.kcat(t, "", "-e", "-G", "svc.x", eventTopic)
		if err == nil || out != "" || !strings.Contains(problems, "the service's own") {
			t.Errorf("reads %q, %v: %s", out, err, problems)
		}
	})
}
