package call

import (
	"fmt"
	"time"

	"hooklog/domain/record"
)

// Completed is the end of one listener's run of a call.
type Completed struct {
	CorrelationID string `json:"correlationId"`
	Listener      string `json:"listener"`
	// Attempt counts from 1; the first completion of the highest one counts.
	Attempt int    `json:"attempt"`
	Status  Status `json:"status"`
	// Value is the sealed result value, bound to ValueField and ValueID; a failed
	// run has none.
	Value string `json:"value,omitempty"`
	// Detail is a sealed Detail, bound to DetailField and ValueID.
	Detail string `json:"detail,omitempty"`
	// Principal is who the run began as, Effective whom it ended as, and Owner whose
	// pipeline it is.
	Principal string    `json:"principal,omitempty"`
	Effective string    `json:"effective,omitempty"`
	Owner     string    `json:"owner,omitempty"`
	Started   time.Time `json:"started,omitzero"`
	Finished  time.Time `json:"finished"`
}

// The field names that what is sealed in a completion is bound to.
const (
	ValueField  = "call.value"
	DetailField = "call.detail"
)

// ValueID is the id that the sealed value and detail of a completion are bound to.
func (c Completed) ValueID() string {
	return fmt.Sprintf("%s/%s/%d", c.CorrelationID, c.Listener, c.Attempt)
}

// Encode gives the completed record for the partition of the accepted one.
func (c Completed) Encode(partition int32) (record.Record, error) {
	return encode(CompletedType, c.CorrelationID, partition, c.Finished, c)
}

// check keeps out what would count as a run that ended well, because it is no
// failure, although it says nothing of the kind.
func (c Completed) check(key string) error {
	if c.Status != OK && c.Status != Failed {
		return fmt.Errorf("status %q ends no run", c.Status)
	}
	if c.Attempt < 1 {
		return fmt.Errorf("attempt %d is before the first", c.Attempt)
	}
	return checkKey(c.CorrelationID, key)
}

// Detail is what happened in a run. Its error texts may quote the payload, so it
// is on the log only as JSON that is sealed.
type Detail struct {
	// Error says why the run failed.
	Error string `json:"error,omitempty"`
	Steps []Step `json:"steps"`
}

// Step is what happened in one step of a run. It shows no value.
type Step struct {
	Path     string    `json:"path"`
	Command  string    `json:"command"`
	Started  time.Time `json:"started"`
	Finished time.Time `json:"finished"`
	// Attempt is the step's last try, from 1; 0 is a step whose condition did not hold.
	Attempt int    `json:"attempt"`
	Error   string `json:"error,omitempty"`
	// User is whom the step ran as.
	User string `json:"user,omitempty"`
	// CommandID is the id of the command that the step issued.
	CommandID string `json:"commandId,omitempty"`
}
