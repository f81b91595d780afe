package httpapi

import (
	"context"
	"fmt"
	"net/http"

	"hooklog/domain/catalog"
	"hooklog/domain/fault"
	"hooklog/transport/commands"
)

const maxIdempotencyKey = 255

// command runs a management command. Who calls is asked before anything that
// the caller sent is looked at.
func (a *API) command(c catalog.Command) handler {
	return a.asCaller(commandPath+"/"+c.Name, func(w http.ResponseWriter, r *http.Request, req commands.Request) error {
		req.Command = c
		given, err := parameters(w, r)
		if err != nil {
			return err
		}
		if req.Args, err = c.Bind(given); err != nil {
			return err
		}
		if c.Kind != catalog.Look {
			if req.IdempotencyKey, err = idempotencyKey(r.Header); err != nil {
				return err
			}
		}
		ctx := r.Context()
		if c.Name == catalog.EventTail {
			var leave func()
			ctx, leave = a.tail(ctx, req)
			defer leave()
		}
		answer, err := a.deps.Commands.Run(ctx, req)
		if err != nil {
			return err
		}
		if lines, ok := answer.(commands.Lines); ok {
			return a.writeLines(w, r, lines)
		}
		return writeAnswer(w, c.Name, answer)
	})
}

// asCaller answers callers who are known, each request in a span of its own. Those
// who are not leave none: they would fill the collector with what they like.
func (a *API) asCaller(path string, handle func(http.ResponseWriter, *http.Request, commands.Request) error) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		began := a.deps.Now()
		caller, err := a.caller(r)
		if err != nil {
			return err
		}
		span := a.deps.Tracer.Command(r, path, began)
		err = handle(w, r, commands.Request{Caller: caller, Span: span})
		span.Answered(http.StatusOK, err)
		return err
	}
}

// tail is the context of waiting for events: it ends when the client leaves, when
// the user waits for the same key once too often, and when the service drains.
func (a *API) tail(ctx context.Context, req commands.Request) (context.Context, func()) {
	released, leave := a.tails.enter(req.Caller.Principal + "\x00" + *catalog.Arg[string](req.Args, "eventKey"))
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		select {
		case <-released:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		cancel()
		leave()
	}
}

// caller finds out who runs a command, and holds each user to a rate.
func (a *API) caller(r *http.Request) (commands.Caller, error) {
	caller, err := a.deps.Authenticate(r)
	if err != nil {
		return commands.Caller{}, err
	}
	return caller, a.userCommands.take(caller.Principal, 1, a.deps.Now())
}

func writeAnswer(w http.ResponseWriter, command string, answer any) error {
	body, err := encodeJSON(answer)
	if err != nil {
		return fmt.Errorf("encode the answer of %s: %w", command, err)
	}
	write(w, http.StatusOK, contentJSON, body)
	return nil
}

// idempotencyKey refuses a key that is empty: its sender believes to have one.
func idempotencyKey(h http.Header) (string, error) {
	given := h.Values("Idempotency-Key")
	if len(given) == 0 {
		return "", nil
	}
	key := given[0]
	ok := len(given) == 1 && key != "" && len(key) <= maxIdempotencyKey
	for i := 0; ok && i < len(key); i++ {
		ok = key[i] > ' ' && key[i] <= '~'
	}
	if !ok {
		return "", fault.New(fault.Invalid, "Idempotency-Key must be 1 to %d visible ASCII characters, once.", maxIdempotencyKey)
	}
	return key, nil
}
