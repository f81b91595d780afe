package commands

import (
	"cmp"
	"context"
	"iter"

	"hooklog/domain/audit"
	"hooklog/domain/catalog"
)

// Audit is the fold of who did what.
type Audit interface {
	// List gives a page, and where the next one begins.
	List(f audit.Filter, after string, limit int) (entries []audit.Entry, next string, err error)
}

// Lines is an answer that is too long to be held: its values come one by one,
// until an error ends them.
type Lines iter.Seq2[any, error]

// everyKey is the pattern that every key fits.
const everyKey = "#"

// exportPortion is how many entries of an export are in memory.
const exportPortion = 500

func (d *Dispatcher) getAudit(req Request) (any, error) {
	after, limit, err := asked(req)
	if err != nil {
		return nil, err
	}
	filter, err := d.auditFilter(req)
	if err != nil {
		return nil, err
	}
	entries, next, err := d.Audit.List(filter, after, limit)
	if err != nil {
		return nil, err
	}
	page := Page[audit.Entry]{Items: append([]audit.Entry{}, entries...)}
	if next != "" {
		page.Next = cursor(next)
	}
	return page, nil
}

// exportAudit reads as it goes, until ctx ends. It is on the record from the start,
// so that who leaves in the middle has looked as well.
func (d *Dispatcher) exportAudit(ctx context.Context, req Request) (any, error) {
	filter, err := d.auditFilter(req)
	filter.OldestFirst = true
	return Lines(func(yield func(any, error) bool) {
		for after, more := "", true; more; more = after != "" {
			entries, next, err := d.Audit.List(filter, after, exportPortion)
			if err = cmp.Or(ctx.Err(), err); err != nil {
				yield(nil, err)
				return
			}
			after = next
			for _, e := range entries {
				if !yield(e, nil) {
					return
				}
			}
		}
	}), err
}

func (d *Dispatcher) auditFilter(req Request) (f audit.Filter, err error) {
	for parameter, field := range map[string]*string{
		"user": &f.User, "command": &f.Command, "webhook": &f.Webhook, "outcome": &f.Outcome,
	} {
		if given := catalog.Arg[string](req.Args, parameter); given != nil {
			*field = *given
		}
	}
	f.Readable = d.readable(req)
	f.All = d.Registry.Policy().AllowAll(req.Caller.subject(), req.Command.Name, everyKey) == nil
	f.From, f.To, err = between(req)
	return f, err
}
