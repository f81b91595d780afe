package httpapi

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"time"

	"hooklog/domain/call"
	"hooklog/domain/catalog"
	"hooklog/domain/fault"
	"hooklog/domain/refused"
	"hooklog/domain/secret"
	"hooklog/domain/webhook"
	"hooklog/transport/telemetry"
)

const (
	receivePath = commandPath + "/" + catalog.WebhookReceive

	headerCorrelationID = "Svc-Result-Correlationid"
	headerTraceID       = "Svc-Trace-Id"
)

// delivery is one webhook call on its way to the log.
type delivery struct {
	started time.Time
	address netip.Addr
	claim   *claim
	query   url.Values
	// queryErr says that a part of the query could not be read.
	queryErr error
	token    secret.Token
	gate     webhook.Gate
	inflow   inflow
	content  content

	traceID       string
	span          telemetry.Span // begins when the webhook is known
	correlationID string
	redirect      bool
	listeners     []string
	watch         watch
	stages        stages
}

func (d *delivery) release() {
	d.content.release()
	if d.claim != nil {
		d.claim.release()
	}
	if d.watch.stop != nil {
		d.watch.stop()
	}
}

// receive takes a webhook call, or refuses it and counts that.
func (a *API) receive(w http.ResponseWriter, r *http.Request) error {
	d := delivery{started: a.deps.Now(), address: a.cfg.Proxies.Address(r), claim: a.budget.claim()}
	defer d.release()
	if err := a.deliver(&d, w, r); err != nil {
		d.span.Answered(0, err)
		a.refusals.Count(refused.NetworkOf(d.address), fault.From(err).Kind)
		a.observe(&d, err)
		return err
	}
	h := w.Header()
	h.Set(headerCorrelationID, d.correlationID)
	h.Set(headerTraceID, d.traceID)
	if d.redirect {
		a.observe(&d, nil)
		a.redirectToResult(w, d.correlationID)
		d.span.Answered(http.StatusFound, nil)
		return nil
	}
	result := a.firstResult(r.Context(), &d)
	a.observe(&d, nil)
	write(w, http.StatusOK, contentJSON, result.AppendJSON(make([]byte, 0, resultRoom+len(result.Value))))
	d.span.Answered(http.StatusOK, nil)
	return nil
}

// deliver puts the call on the log. Until the webhook is known, the caller
// learns nothing but that; from then on every answer has a trace id.
func (a *API) deliver(d *delivery, w http.ResponseWriter, r *http.Request) error {
	if err := a.identify(d, w, r); err != nil {
		hangUp(w)
		return err
	}
	d.traceID = newTraceID(d.gate.Last6)
	d.span = a.deps.Tracer.Receive(r, receivePath, d.started, telemetry.Call{TraceID: d.traceID, Last6: d.gate.Last6, EventKey: d.gate.EventKey})
	if err := a.take(d, w, r); err != nil {
		return &refusal{cause: err, traceID: d.traceID, gate: d.gate, place: d.span.TraceContext}
	}
	return nil
}

// resultRoom is enough for a result JSON without its value.
const resultRoom = 256

// identify finds the webhook. A token in header or query is resolved before a
// byte of the body is read.
func (a *API) identify(d *delivery, w http.ResponseWriter, r *http.Request) error {
	d.query, d.queryErr = url.ParseQuery(r.URL.RawQuery)
	text, found, err := outerToken(r, d.query)
	if err == nil && !found && mayCarryToken(r) {
		text, err = a.tokenInBody(d, w, r)
	}
	if err != nil {
		return err
	}
	if d.token, err = secret.ParseToken(text); err != nil {
		return errNoWebhook()
	}
	d.gate, err = a.gate(r.Context(), d.token.Hash())
	return err
}

// tokenInBody reads the body of a caller that nothing is known of but its
// address.
func (a *API) tokenInBody(d *delivery, w http.ResponseWriter, r *http.Request) (string, error) {
	if err := a.crowd.enter(d.address); err != nil {
		return "", err
	}
	defer a.crowd.leave(d.address)
	var err error
	if d.inflow, err = newInflow(w, r, webhook.MaxPayloadLength, d.claim); err != nil {
		return "", err
	}
	return d.content.receiveWithToken(&d.inflow, r.Header)
}

// gate finds a webhook. Before a token is called unknown, the gates catch up: the
// webhook may have been made through another instance a moment ago.
func (a *API) gate(ctx context.Context, hash secret.TokenHash) (webhook.Gate, error) {
	if err := a.deps.Gates.Fresh(); err != nil {
		return webhook.Gate{}, unavailable(err, "The service is not current.")
	}
	if gate, ok := a.deps.Gates.Gate(hash); ok {
		return gate, nil
	}
	if err := a.current(ctx, a.deps.Gates); err != nil {
		return webhook.Gate{}, err
	}
	if gate, ok := a.deps.Gates.Gate(hash); ok {
		return gate, nil
	}
	return webhook.Gate{}, errNoWebhook()
}

// take validates the call and puts it on the log.
func (a *API) take(d *delivery, w http.ResponseWriter, r *http.Request) error {
	if err := a.webhookCalls.take(d.gate.EventKey, 1, d.started); err != nil {
		return err
	}
	if err := d.claim.identify(d.gate.EventKey); err != nil {
		return err
	}
	if err := d.validate(r); err != nil {
		return err
	}
	if err := a.takeBody(d, w, r); err != nil {
		return err
	}
	d.stages.read = a.deps.Now()
	d.correlationID = newCorrelationID()
	d.listeners = a.deps.Listeners(d.gate.EventKey)
	if len(d.listeners) > 0 && !d.redirect {
		// Before the append, so that no completion can be missed.
		d.watch = a.watch(d.correlationID)
	}
	if err := a.accept(d, r); err != nil {
		return err
	}
	// A result is waited for without what the log has.
	d.claim.release()
	d.claim = nil
	a.logExecution(r.Context(), d)
	return nil
}

// logExecution writes the contract's line. It goes to the handler directly: the
// logger would look up who calls it, which nobody asks for.
func (a *API) logExecution(ctx context.Context, d *delivery) {
	handler := a.deps.Log.Handler()
	if !handler.Enabled(ctx, slog.LevelInfo) {
		return
	}
	now := a.deps.Now()
	line := slog.NewRecord(now, slog.LevelInfo, "Webhook ["+d.traceID+"]: OK", 0)
	line.AddAttrs(
		slog.String("webhook_trace_id", d.traceID),
		slog.String("trace_id", d.span.Trace()),
		slog.String("span_id", d.span.Span()),
		slog.String("event_key", d.gate.EventKey),
		slog.String("last6", d.gate.Last6),
		slog.Int("size", d.content.size),
		slog.Float64("duration_ms", float64(now.Sub(d.started).Microseconds())/1000))
	_ = handler.Handle(ctx, line) // like the logger: a line that cannot be written is lost
}

func (d *delivery) validate(r *http.Request) error {
	if d.queryErr != nil {
		return errQuery()
	}
	var err error
	if d.redirect, _, err = pollingRedirect(d.query); err != nil {
		return err
	}
	if hasContentEncoding(r.Header) {
		return errContentEncoding()
	}
	return nil
}

// takeBody reads the body of a known webhook, unless it brought the token. What
// the body announces is weighed before a byte of it is read.
func (a *API) takeBody(d *delivery, w http.ResponseWriter, r *http.Request) error {
	limit := min(d.gate.MaxPayloadLength, webhook.MaxPayloadLength)
	weigh := func(n int) error { return a.webhookBytes.take(d.gate.EventKey, n, d.started) }
	switch {
	case d.content.size > limit:
		return errTooLarge(limit)
	case d.content.read:
		return weigh(d.content.size)
	case r.Method != http.MethodPost:
		return nil
	}
	var err error
	if d.inflow, err = newInflow(w, r, limit, d.claim); err != nil {
		return err
	}
	if err := weigh(int(r.ContentLength)); err != nil {
		return err
	}
	if err := d.content.receive(&d.inflow, r.Header); err != nil || r.ContentLength >= 0 {
		return err
	}
	return weigh(d.content.size)
}

// firstResult is what the answer to the call itself says. Whatever fails from
// here on is no failure of the call, which is on the log: it can be polled.
func (a *API) firstResult(ctx context.Context, d *delivery) call.Result {
	result := call.Result{CorrelationID: d.correlationID, TraceID: d.traceID, Status: call.Processing}
	if len(d.listeners) == 0 {
		result.Status, result.Value = call.OK, call.TraceInformation(d.traceID)
		return result
	}
	ctx, cancel := context.WithTimeout(ctx, a.cfg.ResultWindow)
	defer cancel()
	seen, err := a.await(ctx, d.correlationID, &d.watch, nil)
	var value []byte
	if err == nil {
		value, err = a.value(seen)
	}
	if err != nil {
		a.deps.Log.ErrorContext(ctx, "result of an accepted call not readable", "webhook_trace_id", d.traceID, "error", err)
		return result
	}
	if seen.ready() {
		result.Status, result.Value = seen.status, value
	}
	return result
}
