package httpapi

import (
	"bufio"
	"net/http"
	"time"

	"hooklog/transport/commands"
)

const (
	contentLines = "application/x-ndjson"
	// linesBuffer is how much is written at a time.
	linesBuffer = 32 << 10
	// linesTime is how long the caller may take for that.
	linesTime = 30 * time.Second
)

// writeLines writes one JSON value a line, for as long as it takes. What fails
// before the first line is answered as any failure; in the middle the connection
// is broken off, so that nobody takes a part for the whole.
func (a *API) writeLines(w http.ResponseWriter, r *http.Request, lines commands.Lines) error {
	setReadDeadline(w, time.Time{}) // the one of the request would end it
	w.Header().Set("Content-Type", contentLines)
	out := bufio.NewWriterSize(paced{w}, linesBuffer)
	defer setWriteDeadline(w, time.Time{}) // the connection may be used again
	begun := false
	for value, err := range lines {
		var line []byte
		if err == nil {
			line, err = encodeJSON(value)
		}
		switch {
		case err != nil && !begun:
			return err
		case err != nil:
			a.brokenOff(r, err)
		}
		begun = true
		if _, err := out.Write(append(line, '\n')); err != nil {
			panic(http.ErrAbortHandler) // nobody reads on
		}
	}
	if err := out.Flush(); err != nil {
		panic(http.ErrAbortHandler)
	}
	return nil
}

// brokenOff ends the connection, and says why unless the caller did.
func (a *API) brokenOff(r *http.Request, err error) {
	if r.Context().Err() == nil {
		a.deps.Log.ErrorContext(r.Context(), "answer broken off", "error", err)
	}
	panic(http.ErrAbortHandler)
}

// paced passes every portion on at once, and gives the caller a new time for it.
type paced struct{ http.ResponseWriter }

func (p paced) Write(portion []byte) (int, error) {
	setWriteDeadline(p.ResponseWriter, time.Now().Add(linesTime))
	n, err := p.ResponseWriter.Write(portion)
	if err == nil {
		err = http.NewResponseController(p.ResponseWriter).Flush()
	}
	return n, err
}

// setWriteDeadline does nothing where there is no connection.
func setWriteDeadline(w http.ResponseWriter, deadline time.Time) {
	_ = http.NewResponseController(w).SetWriteDeadline(deadline)
}
