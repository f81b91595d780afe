// Package settings is what an operator may decide about a hooklog: one typed
// Config, filled from its defaults, a YAML file, the environment and the
// command line, in this order. It holds values only; what is built from them
// is wired elsewhere. Nothing below cmd imports it.
package settings

import (
	"net"
	"net/netip"
	"path/filepath"
	"time"

	"hooklog/domain/secret"
)

// Config is every setting. The tags are its one definition: yaml is the key in
// the file and the name of the flag, env (after HOOKLOG_) is the same name in
// upper snake case, help is the flag's text. Secrets have no yaml name: they
// come from the environment or from files, never from a command line.
type Config struct {
	Listen    string `yaml:"listen" env:"LISTEN" help:"address that callers reach, host:port"`
	OpsListen string `yaml:"ops-listen" env:"OPS_LISTEN" help:"address of health reasons, metrics and profiles; port 0 takes a free one, empty turns it off"`
	BaseURL   string `yaml:"base-url" env:"BASE_URL" help:"URL under which callers reach the service (default: http:// or https:// and the listen address)"`
	TLSCert   string `yaml:"tls-cert" env:"TLS_CERT" help:"certificate file (PEM); serves HTTPS and is read again when it changes"`
	TLSKey    string `yaml:"tls-key" env:"TLS_KEY" help:"private key file (PEM) of tls-cert"`

	TrustedProxies []string `yaml:"trusted-proxies" env:"TRUSTED_PROXIES" help:"networks (CIDR) of the proxies in front of the service, separated by commas; only their proxy-header is believed"`
	ProxyHeader    string   `yaml:"proxy-header" env:"PROXY_HEADER" help:"header in which trusted proxies write the caller's address"`

	BodyBudget   int `yaml:"body-budget" env:"BODY_BUDGET" help:"bytes of calls that may be in memory until the log has them; more are answered 503"`
	WebhookRate  int `yaml:"webhook-rate" env:"WEBHOOK_RATE" help:"calls a second that one webhook takes on this instance; 0 means any number"`
	WebhookBytes int `yaml:"webhook-bytes" env:"WEBHOOK_BYTES" help:"body bytes a second that one webhook takes on this instance; 0 means any number"`
	UserRate     int `yaml:"user-rate" env:"USER_RATE" help:"management commands a second that one user may run on this instance; 0 means any number"`

	Namespace         string        `yaml:"namespace" env:"NAMESPACE" help:"name of the realm: in the URLs of the own one, and before the users of an external issuer"`
	AccessTokenLife   time.Duration `yaml:"access-token-life" env:"ACCESS_TOKEN_LIFE" help:"how long an access token of the own realm is good"`
	RefreshTokenLife  time.Duration `yaml:"refresh-token-life" env:"REFRESH_TOKEN_LIFE" help:"how long after a log-in its refresh tokens end"`
	Issuer            string        `yaml:"issuer" env:"ISSUER" help:"URL of an external OpenID Connect issuer, in place of the own realm"`
	AuthURL           string        `yaml:"auth-url" env:"AUTH_URL" help:"URL of an identity server such as Keycloak; the issuer is its /auth/realms/ and the namespace"`
	Audience          string        `yaml:"audience" env:"AUDIENCE" help:"what access tokens must name in aud to be for this service"`
	AuthorizedParties []string      `yaml:"authorized-parties" env:"AUTHORIZED_PARTIES" help:"clients (azp) of the external issuer whose tokens count although aud does not name this service, separated by commas"`
	RolesClaim        string        `yaml:"roles-claim" env:"ROLES_CLAIM" help:"claim of the external issuer with roles beside realm_access.roles; dots lead inside"`
	ClientID          string        `yaml:"client-id" env:"CLIENT_ID" help:"client as which the service asks the external issuer, for Refresh and Basic"`
	ClientSecretFile  string        `yaml:"client-secret-file" env:"CLIENT_SECRET_FILE" help:"file with that client's secret, in place of HOOKLOG_CLIENT_SECRET; none for a public client"`
	PasswordGrant     bool          `yaml:"password-grant" env:"PASSWORD_GRANT" help:"let Basic hand user names and passwords on to the external issuer"`
	LocalAdmin        bool          `yaml:"local-admin" env:"LOCAL_ADMIN" help:"with an external issuer, let the local administrator log in with Basic"`

	DataDir string `yaml:"data-dir" env:"DATA_DIR" help:"folder for the embedded log, the projections and the keys"`
	KeyRing string `yaml:"key-ring" env:"KEY_RING" help:"file with the keys that seal secrets on the log (default: keys/ring in the data folder; required with brokers)"`

	Brokers            []string `yaml:"brokers" env:"BROKERS" help:"Kafka brokers, host:port, separated by commas; none means the embedded broker"`
	BrokerTLS          bool     `yaml:"broker-tls" env:"BROKER_TLS" help:"talk TLS to the brokers"`
	BrokerTLSCA        string   `yaml:"broker-tls-ca" env:"BROKER_TLS_CA" help:"file with the authorities (PEM) that sign the brokers' certificates (default: the system's)"`
	BrokerTLSCert      string   `yaml:"broker-tls-cert" env:"BROKER_TLS_CERT" help:"client certificate file (PEM) for the brokers"`
	BrokerTLSKey       string   `yaml:"broker-tls-key" env:"BROKER_TLS_KEY" help:"private key file (PEM) of broker-tls-cert"`
	BrokerSASL         string   `yaml:"broker-sasl" env:"BROKER_SASL" help:"how to log in to the brokers: plain, scram-sha-256 or scram-sha-512; empty means no log-in"`
	BrokerUser         string   `yaml:"broker-user" env:"BROKER_USER" help:"user name at the brokers"`
	BrokerPasswordFile string   `yaml:"broker-password-file" env:"BROKER_PASSWORD_FILE" help:"file with the password at the brokers, in place of HOOKLOG_BROKER_PASSWORD"`

	Partitions      int           `yaml:"partitions" env:"PARTITIONS" help:"partitions of new event topics and of svc.call; the embedded broker has always 1"`
	Replication     int           `yaml:"replication" env:"REPLICATION" help:"copies of every topic; the embedded broker has always 1"`
	EventRetention  time.Duration `yaml:"event-retention" env:"EVENT_RETENTION" help:"how long events are kept; 0 means for ever"`
	CallRetention   time.Duration `yaml:"call-retention" env:"CALL_RETENTION" help:"how long the lives of calls are kept; 0 means for ever"`
	AccessRetention time.Duration `yaml:"access-retention" env:"ACCESS_RETENTION" help:"how long looks and log-ins are kept; 0 means for ever"`
	TraceRetention  time.Duration `yaml:"trace-retention" env:"TRACE_RETENTION" help:"how long trace.get finds a call, in whole days; 0 means for ever"`

	CheckpointInterval time.Duration `yaml:"checkpoint-interval" env:"CHECKPOINT_INTERVAL" help:"how often a checkpoint of the log is signed, when the log has grown; 0 means only by checkpoint.put"`
	CheckpointSink     string        `yaml:"checkpoint-sink" env:"CHECKPOINT_SINK" help:"file, or https:// URL for PUT, that always gets the newest checkpoint; best on another machine"`

	ResultWindow   time.Duration `yaml:"result-window" env:"RESULT_WINDOW" help:"how long the answer to a call waits for its result"`
	ResultLife     time.Duration `yaml:"result-life" env:"RESULT_LIFE" help:"how long a result can be polled after it is complete"`
	ResultDeadline time.Duration `yaml:"result-deadline" env:"RESULT_DEADLINE" help:"after how long a call without a result ends as an error"`
	PollHold       time.Duration `yaml:"poll-hold" env:"POLL_HOLD" help:"how long a redirecting poll is held before it is sent round again"`

	RunDeadline   time.Duration `yaml:"run-deadline" env:"RUN_DEADLINE" help:"how long one run of a pipeline may take"`
	ParallelRuns  int           `yaml:"parallel-runs" env:"PARALLEL_RUNS" help:"runs of pipelines at a time on this instance"`
	MessageTopics []string      `yaml:"message-topics" env:"MESSAGE_TOPICS" help:"topics that pipelines may write with message.send, separated by commas; none means that they may not"`
	HTTPHosts     []string      `yaml:"http-hosts" env:"HTTP_HOSTS" help:"hosts that pipelines may call with http.request, such as api.example.org, api.example.org:8443 or *.example.org, separated by commas; none means that they may not"`

	EmbeddedSync     bool   `yaml:"embedded-sync" env:"EMBEDDED_SYNC" help:"flush the embedded log to disk before a call is acknowledged"`
	EmbeddedMaxBytes int    `yaml:"embedded-max-bytes" env:"EMBEDDED_MAX_BYTES" help:"most bytes that the embedded log may have; then calls are refused, and commands have a reserve; 0 means a quarter of the memory"`
	EmbeddedListen   string `yaml:"embedded-listen" env:"EMBEDDED_LISTEN" help:"loopback address on which Kafka clients may read the embedded log; empty turns it off"`

	LogFormat string `yaml:"log-format" env:"LOG_FORMAT" help:"form of the log lines: text or json"`
	LogLevel  string `yaml:"log-level" env:"LOG_LEVEL" help:"least severe log lines shown: debug, info, warn or error"`

	AdminPassword          secret.Password `yaml:"-" env:"ADMIN_PASSWORD"`
	BrokerPassword         secret.Password `yaml:"-" env:"BROKER_PASSWORD"`
	ClientSecret           secret.Password `yaml:"-" env:"CLIENT_SECRET"`
	EmbeddedReaderPassword secret.Password `yaml:"-" env:"EMBEDDED_READER_PASSWORD"`
}

// Default is a service on this machine alone, with the embedded broker.
func Default() Config {
	return Config{
		Listen:           "127.0.0.1:8080",
		OpsListen:        "127.0.0.1:0",
		ProxyHeader:      "x-forwarded-for",
		BodyBudget:       128 << 20,
		UserRate:         100,
		Namespace:        "hooklog",
		AccessTokenLife:  5 * time.Minute,
		RefreshTokenLife: 30 * 24 * time.Hour,
		Audience:         "hooklog",
		LocalAdmin:       true,
		DataDir:          "hooklog-data",
		Partitions:       6,
		Replication:      3,
		TraceRetention:   30 * 24 * time.Hour,
		ResultWindow:     200 * time.Millisecond,
		ResultLife:       time.Hour,
		ResultDeadline:   24 * time.Hour,
		PollHold:         25 * time.Second,
		RunDeadline:      time.Minute,
		ParallelRuns:     64,
		EmbeddedSync:     true,
		LogFormat:        "text",
		LogLevel:         "info",

		CheckpointInterval: time.Minute,
	}
}

// Embedded reports that the log lives in this process: no brokers are set.
func (c Config) Embedded() bool { return len(c.Brokers) == 0 }

// External reports that an external issuer knows the users.
func (c Config) External() bool { return c.Issuer != "" || c.AuthURL != "" }

// IssuerURL is that of the external issuer.
func (c Config) IssuerURL() string {
	if c.Issuer != "" {
		return c.Issuer
	}
	return c.AuthURL + "/auth/realms/" + c.Namespace
}

// TLS reports that the service itself speaks HTTPS.
func (c Config) TLS() bool { return c.TLSCert != "" }

// BaseURLAt is the base URL, without a slash at its end. Where none is set it
// follows from the address that the service listens on, which the caller
// passes because port 0 is known only by then.
func (c Config) BaseURLAt(listening net.Addr) string {
	switch {
	case c.BaseURL != "":
		return c.BaseURL
	case c.TLS():
		return "https://" + listening.String()
	default:
		return "http://" + listening.String()
	}
}

// TrustedNetworks are the trusted proxies, for a valid Config.
func (c Config) TrustedNetworks() []netip.Prefix {
	networks := make([]netip.Prefix, len(c.TrustedProxies))
	for i, text := range c.TrustedProxies {
		networks[i] = netip.MustParsePrefix(text)
	}
	return networks
}

// KeysDir is the folder of the secrets that the service makes by itself.
func (c Config) KeysDir() string { return filepath.Join(c.DataDir, "keys") }

// CheckpointKeyPath is the file of the public key that verifies checkpoints.
func (c Config) CheckpointKeyPath() string { return filepath.Join(c.KeysDir(), "checkpoint.pub") }

// StateDir is the folder of the projections. It can be deleted while the
// service is stopped; the next start builds it again from the log.
func (c Config) StateDir() string { return filepath.Join(c.DataDir, "state") }

// KeyRingPath is the file of the key ring.
func (c Config) KeyRingPath() string {
	if c.KeyRing != "" {
		return c.KeyRing
	}
	return filepath.Join(c.KeysDir(), "ring")
}

// EffectivePartitions is the number of partitions of event topics and svc.call.
func (c Config) EffectivePartitions() int32 {
	if c.Embedded() {
		return 1
	}
	return int32(c.Partitions)
}

// EffectiveReplication is the number of copies of every topic.
func (c Config) EffectiveReplication() int16 {
	if c.Embedded() {
		return 1
	}
	return int16(c.Replication)
}
