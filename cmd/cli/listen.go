package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"hooklog/cmd/cli/contexts"
	"hooklog/cmd/cli/forward"
	"hooklog/cmd/cli/output"
)

// answerTime is how long the call on its way may still be answered after Ctrl-C.
const answerTime = 5 * time.Second

type listenFlags struct {
	forward                         string
	fromStart, sinceNow, skipErrors bool
}

func newListen() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "listen WEBHOOK --forward URL",
		Short: "Send each call of a webhook on to a program of yours, until Ctrl-C",
		Long: `Send each call of a webhook on to a program of yours, one after the other, until
Ctrl-C, and show what it answered. While the program cannot be reached, or answers
with 5xx, 408 or 429, the call is sent again; any other answer counts. When the
service goes away, it is waited for.

How far it came is remembered for each service, webhook and URL. The first time it
begins with the next call.`,
		Example: `  hooklog listen webhook.orders --forward http://127.0.0.1:3000/hooks
  hooklog listen webhook.orders --forward http://127.0.0.1:3000/hooks --from-start`,
		Args:                  cobra.ExactArgs(1),
		DisableFlagsInUseLine: true,
	}
	r := newRemote(cmd)
	cmd.ValidArgsFunction = firstArgument(r.eventKeys)
	var given listenFlags
	flags := cmd.Flags()
	flags.StringVar(&given.forward, "forward", "", "where to send the calls, such as http://127.0.0.1:3000/hooks")
	flags.BoolVar(&given.fromStart, "from-start", false, "begin with the first call that is kept, also when it was answered before")
	flags.BoolVar(&given.sinceNow, "since-now", false, "begin with the next call, and leave out those since the last time")
	flags.BoolVar(&given.skipErrors, "skip-errors", false, "let every answer count, also 5xx")
	must(cmd.MarkFlagRequired("forward"))
	cmd.MarkFlagsMutuallyExclusive("from-start", "since-now")
	cmd.RunE = r.runs(func(cmd *cobra.Command, args []string, s session) error {
		return s.listen(cmd, args[0], given)
	})
	return cmd
}

func (s session) listen(cmd *cobra.Command, name string, given listenFlags) (err error) {
	target, err := forward.NewTarget(given.forward)
	if err != nil {
		return errUsage{err}
	}
	w, err := s.listed(cmd, name)
	if err != nil {
		return err
	}
	// A webhook that is made again, perhaps on another log, has another end of its
	// token, and so begins anew.
	folder, err := contexts.Open(os.Getenv(variableContexts)).Folder()
	if err != nil {
		return err
	}
	progress, err := forward.OpenProgress(filepath.Join(folder, "listen"),
		s.BaseURL(), w.EventKey, w.last6(), given.forward)
	if err != nil {
		return fmt.Errorf("remember how far it came: %w", err)
	}
	defer func() { err = errors.Join(err, progress.Close()) }()
	if err := s.begin(cmd.Context(), w.EventKey, progress, given); err != nil {
		return err
	}
	s.Message("forwarding calls of %s to %s", w.EventKey, target)
	l := listener{s, target, progress, given.skipErrors}
	for page, err := range s.follow(cmd.Context(), w.EventKey, progress.Cursor()) {
		if err == nil {
			err = l.page(cmd.Context(), page)
		}
		if err != nil {
			return stoppedWell(cmd.Context(), err)
		}
	}
	return nil
}

// stoppedWell makes Ctrl-C no failure.
func stoppedWell(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// begin puts the progress where the flags say.
func (s session) begin(ctx context.Context, eventKey string, progress *forward.Progress, given listenFlags) error {
	switch {
	case given.fromStart:
		return progress.Move(fromStart)
	case progress.Cursor() != "" && !given.sinceNow:
		return nil
	}
	cursor, err := s.end(ctx, eventKey)
	if err != nil {
		return err
	}
	return progress.Move(cursor)
}

// listener forwards calls in their order.
type listener struct {
	session
	target     *forward.Target
	progress   *forward.Progress
	skipErrors bool
}

func (l listener) page(ctx context.Context, page followedPage) error {
	for _, row := range page.Items {
		var call followed
		if err := json.Unmarshal(row, &call); err != nil {
			return err
		}
		if l.progress.Answered(call.place()) {
			continue
		}
		m, err := call.message()
		if err != nil {
			l.Message("a call of %s is left out: %v", call.Received.UTC().Format(shownTime), err)
			continue
		}
		answer, err := l.deliver(ctx, m)
		if err != nil {
			return err
		}
		if err := errors.Join(l.progress.Mark(call.place()), l.show(call, m, answer)); err != nil {
			return err
		}
	}
	return l.progress.Move(page.Next)
}

// deliver sends a call until its answer counts.
func (l listener) deliver(ctx context.Context, m forward.Message) (forward.Answer, error) {
	for pause := (backOff{}); ; pause.wait(ctx, 0) {
		if ctx.Err() != nil {
			return forward.Answer{}, context.Canceled
		}
		answer, err := l.send(ctx, m)
		switch {
		case err == nil && l.counts(answer.Status):
			return answer, nil
		case !pause.first() || ctx.Err() != nil: // it is told
		case err != nil:
			l.Message("%s does not answer: %v; trying again until it does", l.target, err)
		default:
			l.Message("%s answered %s to %s; trying again", l.target, status(answer.Status), m.TraceID)
		}
	}
}

// send gives the call that is on its way a moment after Ctrl-C, so that its answer
// is known and it is not sent again.
func (l listener) send(ctx context.Context, m forward.Message) (forward.Answer, error) {
	sending, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	stop := context.AfterFunc(ctx, func() {
		sleep(sending, answerTime)
		cancel()
	})
	defer stop()
	return l.target.Send(sending, m)
}

// counts reports an answer that another try would not better.
func (l listener) counts(status int) bool {
	return l.skipErrors || status < 500 && status != http.StatusRequestTimeout && status != http.StatusTooManyRequests
}

func status(code int) string { return fmt.Sprintf("%d %s", code, http.StatusText(code)) }

// forwarded is a call that was answered, for programs.
type forwarded struct {
	Received      time.Time `json:"received"`
	TraceID       string    `json:"traceId"`
	CorrelationID string    `json:"correlationId"`
	Method        string    `json:"method"`
	Status        int       `json:"status"`
	Milliseconds  int64     `json:"milliseconds"`
}

func (l listener) show(call followed, m forward.Message, answer forward.Answer) error {
	took := answer.Took.Milliseconds()
	value, err := json.Marshal(forwarded{call.Received, m.TraceID, m.CorrelationID, m.Method, answer.Status, took})
	if err != nil {
		return err
	}
	return l.Follow(value,
		output.Field{Text: call.Received.UTC().Format(shownTime), Width: len(shownTime)},
		output.Field{Text: m.TraceID},
		output.Field{Text: m.Method, Width: len("POST")},
		output.Field{Text: fmt.Sprintf("%d ms", took), Width: len("1000 ms")},
		output.Field{Column: "answer", Text: status(answer.Status)},
	)
}
