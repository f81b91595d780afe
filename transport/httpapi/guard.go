package httpapi

import (
	"errors"
	"net/http"
	"runtime"
	"runtime/debug"

	"hooklog/domain/fault"
)

// guard sets what every answer has and turns a panic into a 500. The panic's
// value is logged only where the runtime made it: any other may quote what a
// caller sent.
func (a *API) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Cache-Control", "no-store")
		h.Set("X-Content-Type-Options", "nosniff")
		defer func() {
			switch v := recover().(type) {
			case nil:
			case runtime.Error:
				a.panicked(w, r, v.Error())
			default:
				if err, ok := v.(error); ok && errors.Is(err, http.ErrAbortHandler) {
					panic(v)
				}
				a.panicked(w, r, "not of the runtime")
			}
		}()
		next.ServeHTTP(w, r)
	})
}

func (a *API) panicked(w http.ResponseWriter, r *http.Request, value string) {
	a.deps.Log.ErrorContext(r.Context(), "handler panicked", "panic", value, "stack", string(debug.Stack()))
	writeProblem(w, problem{Error: fault.From(errors.New("panic")), instance: "/"})
}
