package app

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"syscall"
	"time"

	"hooklog/cmd/settings"
	"hooklog/transport/httpapi"
)

const (
	headerTimeout = 10 * time.Second
	// requestTimeout bounds how slowly a caller may send. It is above the longest
	// hold of a poll, which would end with it.
	requestTimeout = 2 * time.Minute
	idleTimeout    = 2 * time.Minute
	maxHeader      = 32 << 10
)

// front is a listener with its HTTP server. It answers from the first moment on:
// while the service cannot, it says so.
type front struct {
	addr   net.Addr
	server *http.Server
	log    *slog.Logger
	status *status
	unable http.Handler
	// able is set once the service has recovered.
	able atomic.Pointer[http.Handler]
	done chan struct{}
}

func (f *front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if able := f.able.Load(); able != nil && f.status.able() == nil {
		(*able).ServeHTTP(w, r)
		return
	}
	f.unable.ServeHTTP(w, r)
}

func (f *front) serve(h http.Handler) { f.able.Store(&h) }

// fronts are the listeners of the service.
type fronts struct {
	public *front
	ops    *front // nil when off
}

func listen(cfg settings.Config, deps Deps, st *status) (*fronts, error) {
	var secured *tls.Config
	if cfg.TLS() {
		cert, err := newCertificate(cfg.TLSCert, cfg.TLSKey, deps.Log)
		if err != nil {
			return nil, err
		}
		secured = &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: cert.get}
	}
	public, err := bind("listen", cfg.Listen)
	if err != nil {
		return nil, err
	}
	all := &fronts{}
	if cfg.OpsListen != "" {
		ops, err := bind("ops-listen", cfg.OpsListen)
		if err != nil {
			return nil, errors.Join(err, public.Close())
		}
		// Operators take profiles, which may last longer than any request.
		all.ops = &front{log: deps.Log, status: st, unable: httpapi.Unable(deps.Log, st.ready, deps.metrics.Handler())}
		all.ops.begin(ops, nil, 0)
	}
	all.public = &front{log: deps.Log, status: st, unable: httpapi.Unable(deps.Log, st.ready, nil)}
	all.public.begin(public, secured, requestTimeout)
	return all, nil
}

// bind takes the address of a setting.
func bind(setting, address string) (net.Listener, error) {
	listener, err := net.Listen("tcp", address)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("%s: another process listens on %s; stop it or choose another --%s", setting, address, setting)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", setting, err)
	}
	return listener, nil
}

// begin answers on the listener until close; secured is nil for plain HTTP.
func (f *front) begin(listener net.Listener, secured *tls.Config, readTimeout time.Duration) {
	f.addr, f.done = listener.Addr(), make(chan struct{})
	f.server = &http.Server{
		Handler:           f,
		TLSConfig:         secured,
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       readTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          slog.NewLogLogger(f.log.Handler(), slog.LevelDebug),
	}
	go func() {
		defer close(f.done)
		if secured != nil {
			_ = f.server.ServeTLS(listener, "", "") // ends with close
			return
		}
		_ = f.server.Serve(listener)
	}()
}

// close lets requests in flight end; what has not ended with ctx is cut off,
// which is no failure of the service.
func (f *front) close(ctx context.Context) error {
	err := f.server.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		f.log.Warn("Requests in flight were cut off", "listener", f.addr.String())
		err = f.server.Close()
	}
	<-f.done
	return err
}

func (f *fronts) close(ctx context.Context) error {
	err := f.public.close(ctx)
	if f.ops != nil {
		err = errors.Join(err, f.ops.close(ctx))
	}
	return err
}
