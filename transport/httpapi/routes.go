package httpapi

import (
	"net/http"
	"net/http/pprof"
	"slices"
	"strings"

	"github.com/gorilla/mux"

	"hooklog/domain/catalog"
	"hooklog/domain/fault"
)

const (
	commandPath = "/api/v3/command"
	resultPath  = "/api/v3/result"
)

// handler answers, or returns what went wrong and has written nothing.
type handler func(w http.ResponseWriter, r *http.Request) error

// route is one row of the interface.
type route struct {
	// path is a pattern of mux.
	path string
	// methods are those allowed, as Allow shows them; none means any.
	methods []string
	handle  handler
	// instance names the route in problem documents where path is a pattern.
	// What the caller wrote there may be a token, so it is never repeated.
	instance string
}

func (a *API) publicRoutes() []route {
	routes := []route{{path: receivePath, methods: []string{http.MethodGet, http.MethodPost}, handle: a.receive}}
	for _, c := range catalog.All() {
		if c.Kind == catalog.Receive {
			continue
		}
		methods := []string{http.MethodPost}
		if c.ReadOnly() {
			methods = []string{http.MethodGet, http.MethodPost}
		}
		routes = append(routes, route{path: commandPath + "/" + c.Name, methods: methods, handle: a.counted(c.Name, a.command(c))})
	}
	return append(routes,
		route{path: commandPath + "/{command}", handle: unknownCommand, instance: commandPath},
		route{path: pipelinePath, methods: []string{http.MethodPost}, handle: a.counted(catalog.PipelineRun, a.asCaller(pipelinePath, a.pipeline))},
		route{path: resultPath, methods: []string{http.MethodGet}, handle: a.result},
		route{path: "/api/v3/openapi.yaml", methods: []string{http.MethodGet}, handle: document(openAPIDocument)},
		route{path: "/api/v3/asyncapi.yaml", methods: []string{http.MethodGet}, handle: document(asyncAPIDocument)},
		route{path: "/healthz", methods: probes, handle: healthz},
		route{path: "/readyz", methods: probes, handle: a.readyz},
	)
}

func (a *API) opsRoutes() []route {
	return append(a.probedRoutes(),
		route{path: "/debug/pprof/cmdline", handle: plain(pprof.Cmdline)},
		route{path: "/debug/pprof/profile", handle: plain(pprof.Profile)},
		route{path: "/debug/pprof/symbol", handle: plain(pprof.Symbol)},
		route{path: "/debug/pprof/trace", handle: plain(pprof.Trace)},
		route{path: "/debug/pprof/{profile:[a-z]*}", handle: plain(pprof.Index), instance: "/debug/pprof/"},
	)
}

// probedRoutes are those by which operators watch, also what cannot answer callers.
func (a *API) probedRoutes() []route {
	return []route{
		{path: "/healthz", methods: probes, handle: healthz},
		{path: "/readyz", methods: probes, handle: a.readyzWithReason},
		{path: "/metrics", methods: probes, handle: plain(a.deps.Metrics.ServeHTTP)},
	}
}

// router answers 404 itself, without a redirect: mux would send the caller of
// an unclean path to the clean one and repeat the query, with a token in it.
func (a *API) router(routes []route) *mux.Router {
	router := mux.NewRouter().SkipClean(true)
	for _, rt := range routes {
		router.Handle(rt.path, a.adapt(rt))
	}
	router.NotFoundHandler = a.adapt(route{path: "/", handle: nothingHere})
	return router
}

// shortcut serves the route with the path itself and everything else by next. It
// is for receives, by far the most frequent requests: mux copies every request.
func (a *API) shortcut(rt route, next http.Handler) http.Handler {
	direct := a.adapt(rt)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == rt.path {
			direct.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// adapt checks the method and writes the problem of a handler that failed.
// Methods are not left to mux, which knows no Allow.
func (a *API) adapt(rt route) http.Handler {
	instance := rt.instance
	if instance == "" {
		instance = rt.path
	}
	allow := strings.Join(rt.methods, ", ")
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if allow != "" && !slices.Contains(rt.methods, r.Method) {
			w.Header().Set("Allow", allow)
			writeProblem(w, problem{Error: fault.New(fault.MethodNotAllowed, "Allowed here: %s.", allow), instance: instance})
			return
		}
		if err := rt.handle(w, r); err != nil {
			a.fail(w, r, instance, err)
		}
	})
}

func plain(h http.HandlerFunc) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		h(w, r)
		return nil
	}
}

func unknownCommand(http.ResponseWriter, *http.Request) error {
	return fault.New(fault.NotFound, "There is no such command.")
}

func nothingHere(http.ResponseWriter, *http.Request) error {
	return fault.New(fault.NotFound, "There is nothing at this path.")
}
