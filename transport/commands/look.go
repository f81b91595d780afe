package commands

import (
	"time"

	"github.com/google/uuid"

	"hooklog/domain/access"
	"hooklog/domain/catalog"
	"hooklog/domain/fault"
	"hooklog/domain/record"
	"hooklog/domain/secret"
	"hooklog/domain/webhook"
)

// look answers from the projections and puts on the record that it was asked.
// The answer does not wait for the record: looking works with the log down.
func (d *Dispatcher) look(req Request, answer func(Request) (any, error)) (any, error) {
	var shown any
	err := d.Registry.Policy().Allow(req.Caller.subject(), req.Command.Name, "")
	if err == nil {
		shown, err = answer(req)
	}
	d.recordLook(req, err)
	return shown, err
}

func (d *Dispatcher) recordLook(req Request, failed error) {
	outcome := "ok"
	if failed != nil {
		outcome = fault.From(failed).Kind.String()
	}
	rec, err := access.Look{
		ID:            uuid.NewString(),
		Name:          req.Command.Name,
		Principal:     req.Caller.Principal,
		PrincipalName: req.Caller.Name,
		Effective:     req.Caller.subject().Principal,
		Roles:         req.Caller.Roles,
		Client:        req.Caller.Client,
		Address:       req.Caller.Address,
		EventKey:      eventKeyOf(req.Args),
		Last6:         last6Of(req.Args),
		Params:        req.Args.Shown(),
		Outcome:       outcome,
		Time:          d.Now().UTC().Truncate(time.Millisecond),
	}.Encode(d.AccessPartitions())
	if err != nil {
		d.Log.Error("Look was not recorded", "command", req.Command.Name, "error", err)
		return
	}
	sending := req.Span.Send(rec.Topic)
	sending.Mark(&rec)
	d.Journal.Append(&rec, func(at record.Position, err error) {
		sending.Sent(at, err)
		if err != nil {
			d.Log.Warn("Look was not recorded", "command", req.Command.Name, "principal", req.Caller.Principal, "error", err)
		}
	})
}

// eventKeyOf is the webhook that a look asks for by its key: nothing else that
// may stand in its place is put on the record.
func eventKeyOf(args catalog.Args) string {
	if key := catalog.Arg[string](args, "eventKey"); key != nil && webhook.CheckEventKey(*key) == nil {
		return *key
	}
	return ""
}

func last6Of(args catalog.Args) string {
	if last6 := catalog.Arg[string](args, "last6"); last6 != nil && len(*last6) == secret.Last6Length {
		return *last6
	}
	return ""
}
