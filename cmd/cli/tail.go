package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"hooklog/cmd/cli/forward"
	"hooklog/cmd/cli/output"
)

// shownTime is the form of times in lines that come one by one.
const shownTime = "2006-01-02T15:04:05.000Z"

// longestLine is how much of a payload is shown at most.
const longestLine = 4 << 10

func newWebhookTail(r *remote) *cobra.Command {
	cmd := &cobra.Command{
		Use: "tail WEBHOOK", Short: "Show the calls of a webhook as they come, until Ctrl-C", Args: cobra.ExactArgs(1),
		Long: `Show the calls of a webhook as they come, until Ctrl-C: when each came, its trace
id, method and size, and the first line of its payload. In the other formats it
is the whole event message. When the service goes away, it is waited for.`,
		Example: `  hooklog webhook tail webhook.orders
  hooklog webhook tail webhook.orders --from-start --count 1 -o json`,
		ValidArgsFunction: firstArgument(r.eventKeys),
	}
	begin := cmd.Flags().Bool("from-start", false, "begin with the first call that is kept, not with the next one")
	count := cmd.Flags().Int("count", 0, "end after so many calls; 0 means never")
	cmd.RunE = r.runs(func(cmd *cobra.Command, args []string, s session) error {
		w, err := s.listed(cmd, args[0])
		if err != nil {
			return err
		}
		cursor := fromStart
		if !*begin {
			if cursor, err = s.end(cmd.Context(), w.EventKey); err != nil {
				return err
			}
			s.Message("waiting for calls of %s", w.EventKey)
		}
		return s.tail(cmd, w.EventKey, cursor, *count)
	})
	return cmd
}

func (s session) tail(cmd *cobra.Command, eventKey, cursor string, count int) error {
	shown := 0
	for page, err := range s.follow(cmd.Context(), eventKey, cursor) {
		if err != nil {
			return err
		}
		for _, row := range page.Items {
			if err := s.tailLine(row); err != nil {
				return err
			}
			if shown++; shown == count {
				return nil
			}
		}
	}
	return nil
}

func (s session) tailLine(row json.RawMessage) error {
	if !s.ForPeople() {
		return s.Line(row)
	}
	var call followed
	if err := json.Unmarshal(row, &call); err != nil {
		return err
	}
	m, err := call.message()
	if err != nil {
		s.Message("a call of %s cannot be shown: %v", call.Received.UTC().Format(shownTime), err)
		return nil
	}
	size, line := firstOf(m)
	return s.Follow(row,
		output.Field{Text: call.Received.UTC().Format(shownTime), Width: len(shownTime)},
		output.Field{Text: m.TraceID},
		output.Field{Text: m.Method, Width: len("POST")},
		output.Field{Text: fmt.Sprintf("%d B", size), Width: len("512000 B")},
		output.Field{Text: line},
	)
}

// firstOf is the size of a call's payload, and its first line.
func firstOf(m forward.Message) (size int, line string) {
	content, _, err := m.Body()
	if err != nil {
		return 0, "(it cannot be read)"
	}
	switch {
	case len(content) == 0:
		return 0, "-"
	case !utf8.Valid(content) || bytes.IndexByte(content, 0) >= 0:
		return len(content), "(binary)"
	}
	line, _, _ = strings.Cut(strings.TrimSpace(string(content[:min(len(content), longestLine)])), "\n")
	return len(content), strings.ToValidUTF8(line, "") // it may end inside a character
}
