package pipeline

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
)

// Step says which step of which run issues a command.
type Step struct {
	// Call is the correlation id of the call that the pipeline runs for.
	Call     string
	Pipeline string
	Version  int
	// Path is where the step stands in the pipeline.
	Path string
	// Attempt is the run's, which run.retry raises: a run that is only repeated,
	// after a crash, has the same. Try is the step's own, which onError raises.
	Attempt int
	Try     int
}

// CommandID is the id of the command that the step issues. A repeated run issues
// the same one, and gets the first's outcome in place of a second effect.
func (s Step) CommandID() string {
	h := sha256.New()
	text := func(t string) {
		_, _ = h.Write(binary.AppendUvarint(nil, uint64(len(t))))
		_, _ = h.Write([]byte(t))
	}
	number := func(n int) { _, _ = h.Write(binary.AppendVarint(nil, int64(n))) }
	// The first text keeps these apart from ids that are made of something else.
	text("pipeline step/1")
	text(s.Call)
	text(s.Pipeline)
	number(s.Version)
	text(s.Path)
	number(s.Attempt)
	number(s.Try)
	return hex.EncodeToString(h.Sum(nil))
}
