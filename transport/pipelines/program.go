// Package pipelines is the language of pipelines: a strict YAML of steps with
// expressions (CEL) in it, a compiler that tells every fault with its place, and
// an interpreter that holds a run to its limits. It knows neither log nor store
// nor who may do what: commands of the service, and every question whether a user
// may run one, go to Steps. A source has these words, of which only pipeline must
// be there:
//
//	headers: {Tenant: north}       # texts; keys are case-sensitive
//	vars: {limit: 10}              # any values, named as in expressions
//	pipeline:
//	  - event.listen: {eventKey: webhook.orders}
//	  - convert.fromBase64: {value: "${body.payload.origin}"}
//	  - convert.fromJson           # a bare name: on the body
//	  - webhook.get: {uuid: "${body.uuid}"}
//	    id: look                   # names the step in records
//	    if: ${body.count > vars.limit}
//	    output: hook               # the result goes to vars.hook, the body stays
//	    onError: {retry: {times: 3, wait: 5}} # or throw, or ignore
//	body: ${vars.hook.eventKey}    # the result, in place of the last body
//
// The options stand beside the command, whose key is the only other one. The
// result of a step is the body of the next, unless output puts it elsewhere;
// event.listen, message.receive, iam.run.as, log and wait pass the body on. The
// headers and vars that a run brings are seen too, but never in place of those
// that the source names. A ${…} that is a whole text keeps its type, among other
// words it becomes text; $${ stands for the characters.
package pipelines

import (
	"fmt"
	"time"

	"hooklog/domain/fault"
)

// Program is a compiled pipeline. It is not changed by running, and may run many
// times at once.
type Program struct {
	// EventKeys and MessageKeys are the patterns that the pipeline listens to, and
	// RunAs the users that it may turn into, each once.
	EventKeys   []string
	MessageKeys []string
	RunAs       []string

	headers []entry
	vars    []entry
	steps   []step
	body    template // nil: the body of the last step
}

// entry is a header or a variable that the source names.
type entry struct {
	name  string
	value template
	at    place
}

type step struct {
	path      string
	at        place
	command   Command
	params    []argument
	condition template // nil: always
	output    string   // empty: the body
	onError   onError
}

type argument struct {
	param Param
	value template
	at    place
}

// onError says what becomes of a step that fails: it is tried again, and then it
// is ignored or ends the run.
type onError struct {
	ignore bool
	times  int
	wait   time.Duration
}

// Compile reads a source. The error is a fault of the kind Invalid that names
// every fault of the source with line and column, or the first twenty.
func Compile(source []byte, catalog Catalog) (p *Program, err error) {
	// The parsers below are not ours, and the source is anybody's.
	defer func() {
		if panicked := recover(); panicked != nil {
			p, err = nil, fault.New(fault.Invalid, "The pipeline cannot be read.").Because(fmt.Errorf("panic of type %T", panicked))
		}
	}()
	c := compiler{catalog: catalog, ids: map[string]bool{}}
	if root := c.read(source); root != nil {
		c.source(root)
	}
	if err := c.err(); err != nil {
		return nil, err
	}
	return &c.program, nil
}
