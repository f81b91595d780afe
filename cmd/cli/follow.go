package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/url"
	"strconv"
	"time"

	"hooklog/cmd/cli/forward"
	"hooklog/domain/catalog"
	"hooklog/domain/fault"
	"hooklog/transport/client"
)

const (
	// followWait is how long the service holds a question when there is no call.
	followWait = 25 * time.Second
	// followTime bounds a question: a connection can be dead without a word.
	followTime = followWait + 35*time.Second
	// followPause is between questions that were answered too soon with nothing, as
	// by a service that stops, or when others ask for the same calls.
	followPause = time.Second

	firstPause, longestPause = 200 * time.Millisecond, 5 * time.Second
	// fromStart is the cursor in front of all calls.
	fromStart = "start"
)

// followed is a call as event.tail gives it.
type followed struct {
	Received time.Time
	Position struct {
		Topic     string
		Partition int32
		Offset    int64
	}
	Event json.RawMessage
}

// place names the call among all of its service.
func (f followed) place() string {
	return fmt.Sprintf("%s/%d@%d", f.Position.Topic, f.Position.Partition, f.Position.Offset)
}

func (f followed) message() (m forward.Message, err error) {
	if len(f.Event) == 0 {
		return m, errors.New("its event is not on the log any more")
	}
	err = json.Unmarshal(f.Event, &m)
	return m, err
}

// followedPage are the calls behind a cursor, and the cursor behind them.
type followedPage struct {
	Items []json.RawMessage
	Next  string
}

// end is the cursor behind all calls of a key that there are.
func (s session) end(ctx context.Context, eventKey string) (string, error) {
	page, err := s.followPage(ctx, url.Values{"eventKey": {eventKey}})
	return page.Next, err
}

// follow gives the calls behind a cursor, also those that come later, until ctx
// ends. When the service goes away it is waited for; what is refused for good ends
// it with an error.
func (s session) follow(ctx context.Context, eventKey, cursor string) iter.Seq2[followedPage, error] {
	return func(yield func(followedPage, error) bool) {
		params := url.Values{"eventKey": {eventKey}, "wait": {strconv.Itoa(int(followWait.Seconds()))}}
		pause := backOff{}
		for ctx.Err() == nil {
			params.Set("cursor", cursor)
			asked := time.Now()
			page, err := s.followPage(ctx, params)
			switch {
			case ctx.Err() != nil:
				return
			case err != nil && !passes(err):
				yield(page, err)
				return
			case err != nil:
				if pause.first() {
					s.Message("%v; trying again until it answers", err)
				}
				pause.wait(ctx, retryAfter(err))
				continue
			}
			if pause.over() {
				s.Message("%s answers again", s.BaseURL())
			}
			if !yield(page, nil) {
				return
			}
			cursor = page.Next
			if len(page.Items) == 0 && time.Since(asked) < followPause {
				sleep(ctx, followPause)
			}
		}
	}
}

func (s session) followPage(ctx context.Context, params url.Values) (page followedPage, err error) {
	ctx, cancel := context.WithTimeout(ctx, followTime)
	defer cancel()
	answer, err := s.Command(ctx, client.Call{Name: catalog.EventTail, Params: params})
	if err != nil {
		return page, err
	}
	err = json.Unmarshal(answer, &page)
	return page, err
}

// passes reports a failure that the same question may not meet later.
func passes(err error) bool {
	var refusal *client.Refusal
	if errors.As(err, &refusal) {
		return refusal.Kind == fault.Unavailable || refusal.Kind == fault.TooMany
	}
	return errors.As(err, new(*client.Unreachable))
}

func retryAfter(err error) time.Duration {
	var refusal *client.Refusal
	if errors.As(err, &refusal) {
		return refusal.RetryAfter
	}
	return 0
}
