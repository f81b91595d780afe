package telemetry

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	protocolHTTP = "http/protobuf"
	protocolGRPC = "grpc"
)

// The variables of the exporter begin with one of these: those for traces count
// before the general ones.
const (
	forTraces = "OTEL_EXPORTER_OTLP_TRACES_"
	forAll    = "OTEL_EXPORTER_OTLP_"
)

// of gives the variable of the exporter that counts.
func of(name string) (value, variable string) {
	if value = get(forTraces + name); value != "" {
		return value, forTraces + name
	}
	return get(forAll + name), forAll + name
}

func get(variable string) string { return strings.TrimSpace(os.Getenv(variable)) }

func protocol() string {
	value, _ := of("PROTOCOL")
	return cmp.Or(value, protocolHTTP)
}

// exporting reports whether the environment asks for spans. What would be used
// then is checked here, because the exporters go on with a default where a value
// is wrong, and nobody would notice.
func exporting() (bool, error) {
	disabled, err := switchedOff()
	if endpoint, _ := of("ENDPOINT"); disabled || endpoint == "" {
		return false, err
	}
	faults := []error{err}
	check := func(variable, value string, ok func(string) bool, want string) {
		if value != "" && !ok(value) {
			faults = append(faults, fmt.Errorf("%s must be %s", variable, want))
		}
	}
	exporter := func(name string, ok func(string) bool, want string) {
		value, variable := of(name)
		check(variable, value, ok, want)
	}
	exporter("ENDPOINT", isURL, "an http:// or https:// URL without user and query")
	exporter("PROTOCOL", oneOf(protocolHTTP, protocolGRPC), protocolHTTP+" or "+protocolGRPC)
	exporter("COMPRESSION", oneOf("gzip", "none"), "gzip or none")
	exporter("TIMEOUT", isCount, "a number of milliseconds, of 9 digits at most")
	exporter("CERTIFICATE", isCertificates, "a file of certificates that can be read")
	for _, prefix := range []string{forTraces, forAll} {
		// Without its value, which is a secret: the exporter would print what it does
		// not understand, also of the one that does not count.
		check(prefix+"HEADERS", get(prefix+"HEADERS"), isHeaders, "a list such as name=value,other=value")
		certificate, key := prefix+"CLIENT_CERTIFICATE", prefix+"CLIENT_KEY"
		check(certificate, get(certificate)+get(key), func(string) bool { return isPair(get(certificate), get(key)) },
			"the file of a certificate whose key is in that of "+key)
	}
	for _, name := range []string{"MAX_QUEUE_SIZE", "MAX_EXPORT_BATCH_SIZE", "SCHEDULE_DELAY", "EXPORT_TIMEOUT"} {
		check("OTEL_BSP_"+name, get("OTEL_BSP_"+name), isCount, "a number above 0, of 9 digits at most")
	}
	check("OTEL_TRACES_SAMPLER", sampler(), oneOf(samplers...), "one of "+strings.Join(samplers, ", "))
	if strings.HasSuffix(sampler(), "traceidratio") {
		check(samplerArgument, get(samplerArgument), isShare, "a number from 0 to 1")
	}
	return true, errors.Join(faults...)
}

var samplers = []string{
	"always_on", "always_off", "traceidratio",
	"parentbased_always_on", "parentbased_always_off", "parentbased_traceidratio",
}

// What counts where the environment says nothing. The queue holds the spans of half
// a second of a busy instance.
const (
	defaultQueue   = 1 << 15
	defaultBatch   = 1 << 11
	defaultDelay   = 5 * time.Second
	defaultTimeout = 30 * time.Second
)

// config reads the variables that exporting has checked.
func config() Config {
	cfg := Config{
		Share:     1,
		QueueSize: count("OTEL_BSP_MAX_QUEUE_SIZE", defaultQueue),
		BatchSize: count("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", defaultBatch),
		Delay:     time.Duration(count("OTEL_BSP_SCHEDULE_DELAY", int(defaultDelay.Milliseconds()))) * time.Millisecond,
		Timeout:   time.Duration(count("OTEL_BSP_EXPORT_TIMEOUT", int(defaultTimeout.Milliseconds()))) * time.Millisecond,
	}
	cfg.BatchSize = min(cfg.BatchSize, cfg.QueueSize)
	cfg.Alone = sampler() != "" && !strings.HasPrefix(sampler(), "parentbased_")
	switch sampler := sampler(); {
	case strings.HasSuffix(sampler, "always_off"):
		cfg.Share = 0
	case strings.HasSuffix(sampler, "traceidratio") && get(samplerArgument) != "":
		cfg.Share, _ = strconv.ParseFloat(get(samplerArgument), 64)
	}
	return cfg
}

const samplerArgument = "OTEL_TRACES_SAMPLER_ARG"

func sampler() string { return strings.ToLower(get("OTEL_TRACES_SAMPLER")) }

func count(variable string, otherwise int) int {
	n, err := strconv.Atoi(get(variable))
	if err != nil {
		return otherwise
	}
	return n
}

// switchedOff reads the two variables that are only about whether to export.
func switchedOff() (bool, error) {
	var faults []error
	disabled := strings.ToLower(get("OTEL_SDK_DISABLED"))
	if !slices.Contains([]string{"", "true", "false"}, disabled) {
		faults = append(faults, errors.New("OTEL_SDK_DISABLED must be true or false"))
	}
	exporter := get("OTEL_TRACES_EXPORTER")
	if !slices.Contains([]string{"", "otlp", "none"}, exporter) {
		faults = append(faults, errors.New("OTEL_TRACES_EXPORTER must be otlp or none"))
	}
	return disabled == "true" || exporter == "none", errors.Join(faults...)
}

func oneOf(values ...string) func(string) bool {
	return func(s string) bool { return slices.Contains(values, s) }
}

// isURL refuses also what the exporters would leave away: they send a key as a
// header.
func isURL(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && u.User == nil && u.RawQuery == ""
}

// isCount holds a number to what is still a time when it counts milliseconds.
func isCount(s string) bool {
	n, err := strconv.Atoi(s)
	return err == nil && n > 0 && n < 1e9
}

func isShare(s string) bool {
	share, err := strconv.ParseFloat(s, 64)
	return err == nil && share >= 0 && share <= 1
}

func isCertificates(path string) bool {
	pem, err := os.ReadFile(path)
	return err == nil && x509.NewCertPool().AppendCertsFromPEM(pem)
}

func isPair(certificate, key string) bool {
	_, err := tls.LoadX509KeyPair(certificate, key)
	return err == nil
}

// isHeaders accepts what the exporter reads: names of headers, and values in URL
// encoding.
func isHeaders(s string) bool {
	for pair := range strings.SplitSeq(s, ",") {
		name, value, ok := strings.Cut(pair, "=")
		if _, err := url.PathUnescape(value); !ok || !isToken(strings.TrimSpace(name)) || err != nil {
			return false
		}
	}
	return true
}

// isToken reports whether HTTP allows the name of a header.
func isToken(name string) bool {
	const signs = "!#$%&'*+-.^_`|~"
	for _, c := range []byte(name) {
		letter := 'a' <= c|0x20 && c|0x20 <= 'z'
		if !letter && (c < '0' || c > '9') && !strings.ContainsRune(signs, rune(c)) {
			return false
		}
	}
	return name != ""
}
