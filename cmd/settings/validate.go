package settings

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	maxPartitions  = 4096
	maxReplication = 32
	month          = 30 * 24 * time.Hour

	// minBudget lets one webhook, which gets a quarter, take its largest call:
	// 4 MiB of body beside 8 MiB of message.
	minBudget = 64 << 20
	maxBudget = 1 << 40
	maxRate   = 1 << 30
	maxRuns   = 4096

	// minEmbedded leaves room for a few of the largest calls beside the reserve.
	minEmbedded = 64 << 20
)

// faults collects what is wrong, each with the setting's name and what to
// write instead.
type faults []error

func (f *faults) add(name, format string, args ...any) {
	*f = append(*f, fmt.Errorf(name+": "+format, args...))
}

// Validate reports every fault at once.
func (c Config) Validate() error {
	var f faults
	c.checkListeners(&f)
	c.checkBaseURL(&f)
	c.checkProxies(&f)
	c.checkIdentity(&f)
	c.checkLimits(&f)
	c.checkStorage(&f)
	c.checkBrokers(&f)
	c.checkTopics(&f)
	c.checkCheckpoints(&f)
	c.checkResults(&f)
	c.checkPipelines(&f)
	f.oneOf("log-format", c.LogFormat, "text", "json")
	f.oneOf("log-level", c.LogLevel, "debug", "info", "warn", "error")
	return errors.Join(f...)
}

// validateLog reports the faults of what says where the log is.
func (c Config) validateLog() error {
	var f faults
	if c.DataDir == "" {
		f.add("data-dir", "write the name of a folder")
	}
	c.checkBrokers(&f)
	c.checkTopics(&f)
	f.oneOf("log-format", c.LogFormat, "text", "json")
	f.oneOf("log-level", c.LogLevel, "debug", "info", "warn", "error")
	return errors.Join(f...)
}

func (c Config) checkListeners(f *faults) {
	f.address("listen", c.Listen)
	if c.OpsListen != "" {
		f.address("ops-listen", c.OpsListen)
		if c.OpsListen == c.Listen && !strings.HasSuffix(c.Listen, ":0") {
			f.add("ops-listen", "is the address of listen too; give it a port of its own")
		}
	}
	f.pair("tls-cert", c.TLSCert, "tls-key", c.TLSKey)

	if c.EmbeddedListen == "" {
		return
	}
	if !c.Embedded() {
		f.add("embedded-listen", "there is no embedded broker when brokers are set; leave one of them out")
	}
	if f.address("embedded-listen", c.EmbeddedListen) && !loopback(c.EmbeddedListen) {
		f.add("embedded-listen", "%q is not on loopback; write 127.0.0.1 and a port", c.EmbeddedListen)
	}
}

func (c Config) checkBaseURL(f *faults) {
	if c.BaseURL == "" {
		return
	}
	u, err := url.Parse(c.BaseURL)
	switch {
	case err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https"):
		f.add("base-url", "write a whole URL, such as https://hooks.example.org")
	case u.User != nil:
		f.add("base-url", "leave the user and the password out")
	case strings.ContainsAny(c.BaseURL, "?#"):
		f.add("base-url", "leave out what begins with ? or #")
	}
}

func (c Config) checkProxies(f *faults) {
	for _, network := range c.TrustedProxies {
		if _, err := netip.ParsePrefix(network); err != nil {
			f.add("trusted-proxies", "%q is no network; write 10.0.0.0/8, or 10.0.0.1/32 for a single address", network)
		}
	}
	switch {
	case !headerName.MatchString(c.ProxyHeader):
		f.add("proxy-header", "%q is no name of a header; write x-forwarded-for or what your proxy sets", c.ProxyHeader)
	case strings.EqualFold(c.ProxyHeader, "forwarded"):
		f.add("proxy-header", "the form of forwarded is not read; let the proxy set x-forwarded-for")
	}
}

var headerName = regexp.MustCompile("^[A-Za-z0-9-]+$")

func (c Config) checkLimits(f *faults) {
	f.within("body-budget", c.BodyBudget, minBudget, maxBudget)
	f.within("webhook-rate", c.WebhookRate, 0, maxRate)
	f.within("webhook-bytes", c.WebhookBytes, 0, maxRate)
	f.within("user-rate", c.UserRate, 0, maxRate)
	if c.EmbeddedMaxBytes != 0 {
		f.within("embedded-max-bytes", c.EmbeddedMaxBytes, minEmbedded, maxBudget)
	}
}

func (c Config) checkStorage(f *faults) {
	if c.DataDir == "" {
		f.add("data-dir", "write the name of a folder")
	}
	switch {
	case !c.Embedded() && c.KeyRing == "":
		f.add("key-ring", "is required with brokers, where all instances share one; make it with: hooklog keys init FILE")
	case c.KeyRing != "" && inside(filepath.Join(c.DataDir, "log"), c.KeyRing):
		f.add("key-ring", "lies in the folder of the log whose secrets it opens; keep it elsewhere")
	}
}

func (c Config) checkBrokers(f *faults) {
	for _, broker := range c.Brokers {
		if f.address("brokers", broker) && strings.HasPrefix(broker, ":") {
			f.add("brokers", "%q names no host; write host:port", broker)
		}
	}
	if c.Embedded() && (c.BrokerTLS || c.BrokerSASL != "") {
		f.add("brokers", "are not set, but broker-tls or broker-sasl is; name the brokers or leave these out")
	}
	if !c.BrokerTLS && c.BrokerTLSCA+c.BrokerTLSCert+c.BrokerTLSKey != "" {
		f.add("broker-tls", "is off, but files for it are set; turn it on or leave them out")
	}
	f.pair("broker-tls-cert", c.BrokerTLSCert, "broker-tls-key", c.BrokerTLSKey)

	f.oneOf("broker-sasl", c.BrokerSASL, "", "plain", "scram-sha-256", "scram-sha-512")
	switch {
	case c.BrokerSASL == "" && c.BrokerUser != "":
		f.add("broker-sasl", "is not set, but broker-user is; write plain, scram-sha-256 or scram-sha-512")
	case c.BrokerSASL != "" && c.BrokerUser == "":
		f.add("broker-user", "is required with broker-sasl")
	}
	if c.BrokerSASL != "" && c.BrokerPassword.IsZero() && c.BrokerPasswordFile == "" {
		f.add("broker-sasl", "needs a password; set HOOKLOG_BROKER_PASSWORD or broker-password-file")
	}
}

func (c Config) checkTopics(f *faults) {
	f.within("partitions", c.Partitions, 1, maxPartitions)
	f.within("replication", c.Replication, 1, maxReplication)
	if c.Embedded() && max(c.EventRetention, c.CallRetention, c.AccessRetention) > 0 {
		f.add("event-retention, call-retention, access-retention", "the embedded log keeps everything; leave them out, or set brokers")
	}
	f.retention("event-retention", c.EventRetention, time.Minute)
	f.retention("access-retention", c.AccessRetention, time.Minute)
	f.retention("trace-retention", c.TraceRetention, 24*time.Hour)
	// A result is polled from the records of its call.
	f.retention("call-retention", c.CallRetention, c.ResultDeadline+c.ResultLife)
}

func (c Config) checkPipelines(f *faults) {
	f.between("run-deadline", c.RunDeadline, time.Second, 24*time.Hour)
	f.within("parallel-runs", c.ParallelRuns, 1, maxRuns)
	for _, topic := range c.MessageTopics {
		if !topicName.MatchString(topic) || strings.HasPrefix(topic, "svc.") {
			f.add("message-topics", "%q must be the name of a topic that does not begin with svc.", topic)
		}
	}
	for _, host := range c.HTTPHosts {
		if !hostPattern.MatchString(host) {
			f.add("http-hosts", "%q must be a host such as api.example.org, or *.example.org for all below it", host)
		}
	}
}

var (
	topicName   = regexp.MustCompile(`^[A-Za-z0-9._-]{1,249}$`)
	hostPattern = regexp.MustCompile(`^(\*\.)?[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?(:[0-9]{1,5})?$`)
)

func (c Config) checkResults(f *faults) {
	// A window of 0 answers without waiting; the others would spin near 0.
	f.between("result-window", c.ResultWindow, 0, 30*time.Second)
	f.between("result-life", c.ResultLife, 100*time.Millisecond, month)
	f.between("result-deadline", c.ResultDeadline, 100*time.Millisecond, month)
	f.between("poll-hold", c.PollHold, 100*time.Millisecond, time.Minute)
}

func (f *faults) address(name, address string) bool {
	_, port, err := net.SplitHostPort(address)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil {
		f.add(name, "%q is no address; write host:port, such as 127.0.0.1:8080", address)
	}
	return err == nil
}

func (f *faults) pair(certName, cert, keyName, key string) {
	switch {
	case cert != "" && key == "":
		f.add(keyName, "is required with %s", certName)
	case cert == "" && key != "":
		f.add(certName, "is required with %s", keyName)
	}
}

func (f *faults) oneOf(name, value string, allowed ...string) {
	if !slices.Contains(allowed, value) {
		f.add(name, "%q is not known; write one of %s", value, strings.Join(slices.DeleteFunc(allowed, isEmpty), ", "))
	}
}

func isEmpty(s string) bool { return s == "" }

func (f *faults) within(name string, value, lowest, highest int) {
	if value < lowest || value > highest {
		f.add(name, "%d is out of range; write %d to %d", value, lowest, highest)
	}
}

func (f *faults) between(name string, value, lowest, highest time.Duration) {
	if value < lowest || value > highest {
		f.add(name, "%s is out of range; write %s to %s", value, lowest, highest)
	}
}

func (f *faults) retention(name string, value, lowest time.Duration) {
	if value != 0 && value < lowest {
		f.add(name, "%s is too short; write at least %s, or 0 for ever", value, lowest)
	}
}

func loopback(address string) bool {
	host, _, _ := net.SplitHostPort(address)
	return onLoopback(host)
}

func onLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || (err == nil && ip.IsLoopback())
}

// inside reports that the file lies in the folder or below it.
func inside(folder, file string) bool {
	folder, errFolder := filepath.Abs(folder)
	file, errFile := filepath.Abs(file)
	if errFolder != nil || errFile != nil {
		return false
	}
	relative, err := filepath.Rel(folder, file)
	return err == nil && filepath.IsLocal(relative)
}
