package settings_test

import (
	"strings"
	"testing"
	"time"

	"hooklog/cmd/settings"
	"hooklog/domain/secret"
)

// onKafka is a valid Config with brokers.
func onKafka() settings.Config {
	cfg := settings.Default()
	cfg.Brokers = []string{"kafka:9092"}
	cfg.KeyRing = "/etc/hooklog/ring"
	return cfg
}

func TestValidateNamesTheFault(t *testing.T) {
	type change = func(*settings.Config)
	embedded := map[string]struct {
		change change
		want   string
	}{
		"listen without a port":         {func(c *settings.Config) { c.Listen = "127.0.0.1" }, `listen: "127.0.0.1" is no address`},
		"listen with a port too high":   {func(c *settings.Config) { c.Listen = "127.0.0.1:65536" }, "listen: "},
		"listen without an address":     {func(c *settings.Config) { c.Listen = "" }, "listen: "},
		"ops-listen with a port's name": {func(c *settings.Config) { c.OpsListen = "127.0.0.1:http" }, "ops-listen: "},
		"both listeners on one address": {func(c *settings.Config) { c.OpsListen = c.Listen }, "ops-listen: is the address of listen"},
		"certificate without key":       {func(c *settings.Config) { c.TLSCert = "c" }, "tls-key: is required with tls-cert"},
		"key without certificate":       {func(c *settings.Config) { c.TLSKey = "k" }, "tls-cert: is required with tls-key"},
		"base URL without a scheme":     {func(c *settings.Config) { c.BaseURL = "example.org" }, "base-url: write a whole URL"},
		"base URL of another scheme":    {func(c *settings.Config) { c.BaseURL = "ftp://example.org" }, "base-url: write a whole URL"},
		"base URL without a host":       {func(c *settings.Config) { c.BaseURL = "http://" }, "base-url: write a whole URL"},
		"base URL with a user":          {func(c *settings.Config) { c.BaseURL = "http://u:p@example.org" }, "base-url: leave the user"},
		"base URL with a query":         {func(c *settings.Config) { c.BaseURL = "http://example.org?" }, "base-url: leave out"},
		"base URL with a fragment":      {func(c *settings.Config) { c.BaseURL = "http://example.org#" }, "base-url: leave out"},
		"a proxy that is no network":    {func(c *settings.Config) { c.TrustedProxies = []string{"10.0.0.0/8", "10.0.0.1"} }, `trusted-proxies: "10.0.0.1" is no network`},
		"a proxy header with a colon":   {func(c *settings.Config) { c.ProxyHeader = "x-forwarded-for:" }, "proxy-header: "},
		"no proxy header":               {func(c *settings.Config) { c.ProxyHeader = "" }, "proxy-header: "},
		"a proxy header of other form":  {func(c *settings.Config) { c.ProxyHeader = "Forwarded" }, "proxy-header: the form of forwarded"},
		"a budget for no large call":    {func(c *settings.Config) { c.BodyBudget = 64<<20 - 1 }, "body-budget: 67108863 is out of range; write 67108864 to"},
		"a negative webhook rate":       {func(c *settings.Config) { c.WebhookRate = -1 }, "webhook-rate: -1 is out of range; write 0 to"},
		"a negative rate of bytes":      {func(c *settings.Config) { c.WebhookBytes = -1 }, "webhook-bytes: "},
		"a negative user rate":          {func(c *settings.Config) { c.UserRate = -1 }, "user-rate: "},
		"no data folder":                {func(c *settings.Config) { c.DataDir = "" }, "data-dir: "},
		"ring inside the log":           {func(c *settings.Config) { c.KeyRing = "hooklog-data/log/ring" }, "key-ring: lies in the folder of the log"},
		"window open to the network":    {func(c *settings.Config) { c.EmbeddedListen = "0.0.0.0:9092" }, "is not on loopback"},
		"window on every interface":     {func(c *settings.Config) { c.EmbeddedListen = ":9092" }, "is not on loopback"},
		"broker log-in without brokers": {func(c *settings.Config) { c.BrokerTLS = true }, "brokers: are not set"},
		"no partitions":                 {func(c *settings.Config) { c.Partitions = 0 }, "partitions: 0 is out of range; write 1 to"},
		"too many partitions":           {func(c *settings.Config) { c.Partitions = 1 << 20 }, "partitions: "},
		"no replication":                {func(c *settings.Config) { c.Replication = 0 }, "replication: "},
		"retention of an embedded log":  {func(c *settings.Config) { c.EventRetention = time.Hour }, "event-retention, call-retention, access-retention: the embedded log keeps everything"},
		"small embedded log":            {func(c *settings.Config) { c.EmbeddedMaxBytes = 1000 }, "embedded-max-bytes: "},
		"negative retention":            {func(c *settings.Config) { c.EventRetention = -time.Hour }, "event-retention: "},
		"short access retention":        {func(c *settings.Config) { c.AccessRetention = time.Second }, "access-retention: "},
		"traces of less than a day":     {func(c *settings.Config) { c.TraceRetention = time.Hour }, "trace-retention: 1h0m0s is too short; write at least 24h0m0s, or 0 for ever"},
		"calls gone before results":     {func(c *settings.Config) { c.CallRetention = 24 * time.Hour }, "call-retention: 24h0m0s is too short; write at least 25h0m0s"},
		"checkpoints without a pause":   {func(c *settings.Config) { c.CheckpointInterval = time.Millisecond }, "checkpoint-interval: 1ms is out of range"},
		"negative checkpoint interval":  {func(c *settings.Config) { c.CheckpointInterval = -1 }, "checkpoint-interval: "},
		"sink in the clear":             {func(c *settings.Config) { c.CheckpointSink = "http://example.org/c" }, "checkpoint-sink: only https://"},
		"sink of another scheme":        {func(c *settings.Config) { c.CheckpointSink = "s3://bucket/c" }, "checkpoint-sink: only https://"},
		"sink without a host":           {func(c *settings.Config) { c.CheckpointSink = "https:///c" }, "checkpoint-sink: write the name of a file"},
		"sink with a password":          {func(c *settings.Config) { c.CheckpointSink = "https://u:p@example.org/c" }, "checkpoint-sink: leave the user"},
		"sink that is a folder":         {func(c *settings.Config) { c.CheckpointSink = "outside/" }, "checkpoint-sink: write the name of a file, not of a folder"},
		"negative window":               {func(c *settings.Config) { c.ResultWindow = -1 }, "result-window: "},
		"result gone at once":           {func(c *settings.Config) { c.ResultLife = 0 }, "result-life: "},
		"no deadline":                   {func(c *settings.Config) { c.ResultDeadline = 0 }, "result-deadline: "},
		"polls never released":          {func(c *settings.Config) { c.PollHold = time.Hour }, "poll-hold: "},
		"runs that never end":           {func(c *settings.Config) { c.RunDeadline = 0 }, "run-deadline: "},
		"no runs at all":                {func(c *settings.Config) { c.ParallelRuns = 0 }, "parallel-runs: "},
		"pipelines that write svc":      {func(c *settings.Config) { c.MessageTopics = []string{"svc.call"} }, "message-topics: "},
		"pipelines that call anywhere":  {func(c *settings.Config) { c.HTTPHosts = []string{"*"} }, "http-hosts: "},
		"a host with a path":            {func(c *settings.Config) { c.HTTPHosts = []string{"example.org/x"} }, "http-hosts: "},
		"unknown log format":            {func(c *settings.Config) { c.LogFormat = "xml" }, "log-format: "},
		"unknown log level":             {func(c *settings.Config) { c.LogLevel = "loud" }, "log-level: "},
	}
	kafka := map[string]struct {
		change change
		want   string
	}{
		"no ring":                       {func(c *settings.Config) { c.KeyRing = "" }, "hooklog keys init"},
		"broker without a port":         {func(c *settings.Config) { c.Brokers = []string{"kafka"} }, `brokers: "kafka" is no address`},
		"broker without a host":         {func(c *settings.Config) { c.Brokers = []string{":9092"} }, "names no host"},
		"window beside brokers":         {func(c *settings.Config) { c.EmbeddedListen = "127.0.0.1:9092" }, "embedded-listen: there is no embedded broker"},
		"authorities without TLS":       {func(c *settings.Config) { c.BrokerTLSCA = "ca" }, "broker-tls: is off"},
		"client certificate alone":      {func(c *settings.Config) { c.BrokerTLS, c.BrokerTLSCert = true, "c" }, "broker-tls-key: is required"},
		"unknown SASL mechanism":        {func(c *settings.Config) { c.BrokerSASL = "gssapi" }, "write one of plain, scram-sha-256, scram-sha-512"},
		"SASL without a user":           {func(c *settings.Config) { c.BrokerSASL = "plain" }, "broker-user: is required"},
		"SASL without a password":       {func(c *settings.Config) { c.BrokerSASL, c.BrokerUser = "plain", "u" }, "HOOKLOG_BROKER_PASSWORD"},
		"user without a SASL mechanism": {func(c *settings.Config) { c.BrokerUser = "u" }, "broker-sasl: is not set"},
	}
	for name, tc := range embedded {
		t.Run(name, func(t *testing.T) { wantFault(t, settings.Default(), tc.change, tc.want) })
	}
	for name, tc := range kafka {
		t.Run("on Kafka: "+name, func(t *testing.T) { wantFault(t, onKafka(), tc.change, tc.want) })
	}
}

func wantFault(t *testing.T, cfg settings.Config, change func(*settings.Config), want string) {
	t.Helper()
	if err := cfg.Validate(); err != nil {
		t.Fatal("before the change:", err)
	}
	change(&cfg)
	if err := cfg.Validate(); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %q", err, want)
	}
}

func TestValidateTakesWhatIsMeant(t *testing.T) {
	for name, change := range map[string]func(*settings.Config){
		"listeners on any free port":     func(c *settings.Config) { c.Listen, c.OpsListen = "127.0.0.1:0", "127.0.0.1:0" },
		"no listener for operations":     func(c *settings.Config) { c.OpsListen = "" },
		"every interface":                func(c *settings.Config) { c.Listen = ":8080" },
		"a window on loopback, IPv6 too": func(c *settings.Config) { c.Brokers, c.EmbeddedListen = nil, "[::1]:9092" },
		"rates without a limit":          func(c *settings.Config) { c.WebhookRate, c.WebhookBytes, c.UserRate = 0, 0, 0 },
		"checkpoints by command alone":   func(c *settings.Config) { c.CheckpointInterval = 0 },
		"a sink that is a file":          func(c *settings.Config) { c.CheckpointSink = "../outside/checkpoint" },
		"a sink that is a URL":           func(c *settings.Config) { c.CheckpointSink = "https://example.org/c?key=1" },
		"a sink on loopback":             func(c *settings.Config) { c.CheckpointSink = "http://127.0.0.1:9000/c" },
		"proxies of both families": func(c *settings.Config) {
			c.TrustedProxies, c.ProxyHeader = []string{"10.0.0.0/8", "fd00::/8"}, "CF-Connecting-IP"
		},
		"retention that outlives results": func(c *settings.Config) {
			c.Brokers, c.KeyRing, c.CallRetention = []string{"kafka:9092"}, "ring", 25*time.Hour
		},
		"a log-in over TLS": func(c *settings.Config) {
			c.BrokerTLS, c.BrokerTLSCA = true, "ca"
			c.BrokerSASL, c.BrokerUser, c.BrokerPassword = "scram-sha-512", "u", secret.NewPassword("p")
		},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := onKafka()
			change(&cfg)
			if err := cfg.Validate(); err != nil {
				t.Error(err)
			}
		})
	}
}
