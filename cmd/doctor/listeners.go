package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"strings"
	"syscall"
)

func (e *examination) listen(ctx context.Context, n *notes) {
	address := e.cfg.Listen
	free, known := e.available(n, "listen", address)
	switch {
	case !known:
	case free && e.held:
		n.warn("look with the settings that the service was started with",
			"%s is free, although a service runs on the data folder", address)
	case free:
		n.ok("%s is free", address)
	default:
		e.answering(ctx, n, address)
	}
}

// answering looks who answers at an address that is taken.
func (e *examination) answering(ctx context.Context, n *notes, address string) {
	scheme := "http://"
	if e.cfg.TLS() {
		scheme = "https://"
	}
	// Names and authorities are for the check of the base URL.
	url := scheme + reachable(address)
	health, err := ask(ctx, trusting, url+"/healthz")
	if err != nil || !health.isHooklog() {
		n.fail("stop that process or choose another listen", "another process listens on %s", address)
		return
	}
	ready, err := ask(ctx, trusting, url+"/readyz")
	switch {
	case err != nil:
		n.fail("look at the log lines of the service", "hooklog answers on %s, and then did not: %v", address, err)
	case ready.status != http.StatusOK:
		n.fail("the reason stands in its log lines and at /readyz of ops-listen", "hooklog answers on %s and is not ready", address)
	default:
		n.ok("hooklog answers on %s and is ready", address)
	}
}

func (e *examination) opsListen(ctx context.Context, n *notes) {
	address := e.cfg.OpsListen
	if address == "" {
		n.ok("is off")
		return
	}
	free, known := e.available(n, "ops-listen", address)
	switch {
	case !known:
	case free:
		n.ok("%s is free", address)
	default:
		e.reason(ctx, n, address)
	}
	host, _, _ := net.SplitHostPort(address)
	if !loopback(host) {
		n.warn("write 127.0.0.1 and a port, or keep others away from it by a firewall", "%s shows profiles and reasons to whoever reaches it", address)
	}
}

// reason asks the ops listener how the service does.
func (e *examination) reason(ctx context.Context, n *notes, address string) {
	ready, err := ask(ctx, trusting, "http://"+reachable(address)+"/readyz")
	var said struct {
		Status any    `json:"status"`
		Detail string `json:"detail"`
	}
	switch {
	case err != nil || json.Unmarshal(ready.body, &said) != nil:
		n.fail("stop that process or choose another ops-listen", "another process listens on %s", address)
	case said.Status == "ready":
		n.ok("hooklog answers on %s and is ready", address)
	case ready.status == http.StatusServiceUnavailable:
		n.fail("mend the reason; the service goes on by itself, or says in its log lines what to run", "hooklog answers on %s and is not ready: %s", address, said.Detail)
	default:
		n.fail("stop that process or choose another ops-listen", "another process listens on %s", address)
	}
}

func (e *examination) window(_ context.Context, n *notes) {
	address := e.cfg.EmbeddedListen
	if address == "" {
		return
	}
	free, known := e.available(n, "embedded-listen", address)
	switch {
	case !known:
	case free:
		n.ok("%s is free", address)
	case e.held:
		n.ok("%s is taken, and a service runs", address)
	default:
		n.fail("stop that process or choose another embedded-listen", "another process listens on %s", address)
	}
}

// available reports that the address can be listened on, by doing so for an
// instant; where that is not known it has said why.
func (e *examination) available(n *notes, setting, address string) (free, known bool) {
	if strings.HasSuffix(address, ":0") {
		n.ok("%s takes a free port at the start", address)
		return false, false
	}
	listener, err := net.Listen("tcp", address)
	switch {
	case err == nil:
		_ = listener.Close()
		return true, true
	case errors.Is(err, syscall.EADDRINUSE):
		return false, true
	case errors.Is(err, syscall.EACCES):
		n.fail("choose a port above 1023, or give the service the right to it (CAP_NET_BIND_SERVICE)", "this user may not listen on %s", address)
	default:
		n.fail("write an address of this machine into "+setting, "%v", err)
	}
	return false, false
}

// reachable is the address from this machine: that of all interfaces is none.
func reachable(address string) string {
	host, port, _ := net.SplitHostPort(address)
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port)
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
