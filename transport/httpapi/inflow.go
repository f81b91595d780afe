package httpapi

import (
	"errors"
	"io"
	"net/http"
	"os"
	"time"

	"hooklog/domain/fault"
	"hooklog/domain/webhook"
)

// A body has to keep coming: beyond a grace it must bring the rate, and it must
// be over in time. Who keeps the rate is counted anew after each grace, so that
// what came fast does not let the rest stand still while its memory is taken.
const (
	bodyGrace = 5 * time.Second
	bodyRate  = 1 << 10 // bytes a second
	bodyTime  = 2 * time.Minute
	// deadlineStep is how far the deadline moves at least, to move it seldom.
	deadlineStep = time.Second

	// lingering is how long what is left of the body of a refused request is read:
	// a connection that is closed over unread bytes may lose the answer.
	lingering = time.Second
)

// steps are the sizes that the memory of a body goes through as it arrives. The
// last one holds the largest body and lets its end be seen.
var steps = [...]int{4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, webhook.MaxPayloadLength + 512}

// inflow is the body of a request on its way in. It counts every byte, holds
// the body to its limit and its pace, and takes each step from the budget before
// a byte of it is read.
type inflow struct {
	w    http.ResponseWriter
	from io.Reader
	// declared is the Content-Length; -1 is unknown.
	declared int64
	limit    int
	// claim is nil for a body that takes nothing of the budget.
	claim *claim

	began, deadline time.Time
	read            int
	// since is when the pace was last counted anew; paced is what had come by then.
	since time.Time
	paced int
	taken int // steps
	// failed is why the rest cannot be read, as the caller is told.
	failed error
}

// newInflow begins with the body, which is refused when it announces more than
// the limit.
func newInflow(w http.ResponseWriter, r *http.Request, limit int, c *claim) (inflow, error) {
	if r.ContentLength > int64(limit) {
		hangUp(w)
		return inflow{}, errTooLarge(limit)
	}
	now := time.Now()
	return inflow{w: w, from: r.Body, declared: r.ContentLength, limit: limit, claim: c, began: now, since: now}, nil
}

// room makes sure that the next byte has its place in the budget, and gives the
// step that it lies in.
func (in *inflow) room() (step int, err error) {
	if in.failed != nil {
		return 0, in.failed
	}
	if in.taken == 0 || in.read == steps[in.taken-1] {
		if in.claim != nil {
			err = in.claim.resize(int64(steps[in.taken]))
		}
		if in.failed = err; err != nil {
			return 0, err
		}
		in.taken++
	}
	return in.taken - 1, nil
}

func (in *inflow) Read(p []byte) (int, error) {
	step, err := in.room()
	if err != nil {
		return 0, err
	}
	in.hasten()
	n, err := in.from.Read(p[:min(len(p), steps[step]-in.read)])
	in.read += n
	switch {
	case in.read > in.limit:
		in.failed = errTooLarge(in.limit)
	case err == nil:
		return n, nil
	case errors.Is(err, io.EOF):
		// The deadline would end the request while the handler works.
		in.setDeadline(time.Time{})
		return n, err
	case errors.Is(err, os.ErrDeadlineExceeded):
		in.failed = fault.New(fault.Invalid, "The body came too slowly.")
	default:
		in.failed = errUnreadable()
	}
	hangUp(in.w)
	return n, in.failed
}

// hasten moves the deadline to where the bytes so far allow.
func (in *inflow) hasten() {
	now := time.Now()
	earned := time.Duration(in.read-in.paced) * (time.Second / bodyRate)
	if elapsed := now.Sub(in.since); elapsed >= bodyGrace && earned >= elapsed {
		in.since, in.paced, earned = now, in.read, 0
	}
	deadline := in.since.Add(bodyGrace + earned)
	if most := now.Add(2 * bodyGrace); deadline.After(most) {
		deadline = most
	}
	if last := in.began.Add(bodyTime); deadline.After(last) {
		deadline = last
	}
	if deadline.Sub(in.deadline) >= deadlineStep {
		in.setDeadline(deadline)
	}
}

func (in *inflow) setDeadline(deadline time.Time) {
	in.deadline = deadline
	setReadDeadline(in.w, deadline)
}

// explain gives the error of a reader over the inflow its kind: what is none of
// the inflow's own is a body that is not what it says.
func (in *inflow) explain(err error) error {
	switch {
	case in.failed != nil:
		return in.failed
	case err != nil:
		return errUnreadable()
	default:
		return nil
	}
}

// hangUp ends the connection behind the answer, because what is left of the body
// is not worth reading.
func hangUp(w http.ResponseWriter) { w.Header().Set("Connection", "close") }

// setReadDeadline does nothing where there is no connection.
func setReadDeadline(w http.ResponseWriter, deadline time.Time) {
	_ = http.NewResponseController(w).SetReadDeadline(deadline)
}

func errTooLarge(limit int) error {
	return fault.New(fault.TooLarge, "The body is over %d bytes.", limit)
}

func errUnreadable() error {
	return fault.New(fault.Invalid, "The body is malformed or ends too early.")
}
