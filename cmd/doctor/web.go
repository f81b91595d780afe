package doctor

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/url"
	"os"
	"time"
)

// renewBefore is how long before its end a certificate should be replaced.
const renewBefore = 14 * 24 * time.Hour

func (e *examination) certificate(_ context.Context, n *notes) {
	if !e.cfg.TLS() {
		return // whether it is missing is for the check of the base URL
	}
	pair, err := tls.LoadX509KeyPair(e.cfg.TLSCert, e.cfg.TLSKey)
	if err != nil {
		n.fail("write a certificate and its own key, in PEM form, into the files of tls-cert and tls-key", "%v", err)
		return
	}
	leaf, left := pair.Leaf, pair.Leaf.NotAfter.Sub(e.deps.Now())
	switch days := int(left / (24 * time.Hour)); {
	case left <= 0:
		n.fail("replace the files; a running service picks them up by itself", "%s has expired on %s", e.cfg.TLSCert, leaf.NotAfter.UTC().Format(time.DateOnly))
	case leaf.NotBefore.After(e.deps.Now()):
		n.fail("set the clock, or wait", "%s is good only from %s on", e.cfg.TLSCert, leaf.NotBefore.UTC().Format(time.RFC3339))
	case left < renewBefore:
		n.warn("replace the files; a running service picks them up by itself", "%s expires in %d days", e.cfg.TLSCert, days)
	default:
		n.ok("%s is good for %d more days", e.cfg.TLSCert, days)
	}
	if host := hostOf(e.callersURL()); host != "" && leaf.VerifyHostname(host) != nil {
		n.warn("get a certificate for that name; behind a proxy with one of its own, this does not matter to callers",
			"%s does not cover %s, the host of the base URL", e.cfg.TLSCert, host)
	}
	if info, err := os.Stat(e.cfg.TLSKey); err == nil && info.Mode().Perm()&0o007 != 0 {
		n.warn("chmod 600 "+e.cfg.TLSKey, "%s may be read by everybody on this machine", e.cfg.TLSKey)
	}
}

// callersURL is the base URL; empty where it depends on a port that is not known.
func (e *examination) callersURL() string {
	if e.cfg.BaseURL != "" {
		return e.cfg.BaseURL
	}
	address, err := net.ResolveTCPAddr("tcp", e.cfg.Listen)
	if err != nil || address.Port == 0 {
		return ""
	}
	return e.cfg.BaseURLAt(address)
}

func hostOf(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

func (e *examination) baseURL(ctx context.Context, n *notes) {
	base := e.callersURL()
	if base == "" {
		n.ok("follows from the free port that is taken at the start")
		return
	}
	u, err := url.Parse(base)
	if err != nil {
		n.fail("write a whole URL, such as https://hooks.example.org", "%v", err)
		return
	}
	if ip := net.ParseIP(u.Hostname()); u.Hostname() == "" || ip != nil && ip.IsUnspecified() {
		n.warn("set base-url to what callers use", "no caller can use %s, which webhooks would be shown with", base)
		return
	}
	if u.Scheme != "https" && !loopback(u.Hostname()) {
		n.warn("put a proxy with TLS in front and set base-url, or set tls-cert and tls-key",
			"%s sends tokens and passwords in the clear", base)
	}
	if !e.held {
		n.ok("%s is not asked, because no service runs here", base)
		return
	}
	e.askBase(ctx, n, base)
}

// askBase goes the way of the callers. That it is closed from here need not mean
// that it is for them.
func (e *examination) askBase(ctx context.Context, n *notes, base string) {
	health, err := ask(ctx, careful, base+"/healthz")
	var untrusted x509.UnknownAuthorityError
	switch {
	case errors.As(err, &untrusted):
		n.warn("get a certificate from an authority that callers trust", "%s has a certificate that this machine does not trust", base)
	case errors.As(err, new(*tls.CertificateVerificationError)):
		n.fail("replace the certificate there", "callers refuse %s: %v", base, err)
	case err != nil:
		n.warn("see that name and port lead to this service from where callers are", "%s cannot be reached from here: %v", base, err)
	case health.location != "":
		n.fail("write the URL that it leads to as base-url; callers do not repeat what they sent", "%s sends callers on to %s", base, health.location)
	case !health.isHooklog():
		n.fail("see that the proxy there passes every path on to this service", "%s answers %d, and not as hooklog does", base, health.status)
	default:
		n.ok("%s leads to a hooklog", base)
	}
}
