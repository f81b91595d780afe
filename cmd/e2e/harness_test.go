// Package e2e_test runs the whole service in process and asks it what callers,
// operators and stream processors would. It has no way in but theirs: HTTP, the
// command line, the data folder, and Kafka.
package e2e_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl/plain"

	"hooklog/cmd/app"
	"hooklog/cmd/settings"
	"hooklog/domain/secret"
	"hooklog/transport/keyring"
)

const (
	adminPassword  = "a password: with everything €"
	readerPassword = "reader-secret"
	// patience bounds every wait; nothing passes because of it.
	patience = 30 * time.Second
)

// brokersVariable names real brokers to run the suite against; without it, the
// brokers are simulated on loopback.
const brokersVariable = "HOOKLOG_TEST_BROKERS"

// onBothLogs runs a test on the embedded log and on brokers.
func onBothLogs(t *testing.T, test func(t *testing.T, start func(...option) *service)) {
	t.Run("embedded", func(t *testing.T) {
		if os.Getenv(brokersVariable) != "" {
			t.Skip("this run is for the brokers")
		}
		test(t, func(o ...option) *service { return startEmbedded(t, o...) })
	})
	t.Run("brokers", func(t *testing.T) {
		test(t, func(o ...option) *service { return startOnBrokers(t, o...) })
	})
}

// option changes the settings of a service before it starts.
type option func(*settings.Config)

// service is a running hooklog and the ways to it.
type service struct {
	t     *testing.T
	cfg   settings.Config
	app   *app.App
	clock *clock
	logs  *buffer
	out   *buffer
	http  *http.Client
	url   string // the base URL
}

// startEmbedded starts a service with its own log in a new folder, with a window
// for Kafka clients.
func startEmbedded(t *testing.T, options ...option) *service {
	t.Helper()
	return start(t, append([]option{func(c *settings.Config) {
		c.EmbeddedListen = "127.0.0.1:0"
		c.EmbeddedReaderPassword = secret.NewPassword(readerPassword)
	}}, options...)...)
}

// startOnOne starts a service for what does not depend on the log: an embedded
// one, or on the brokers that the run is for.
func startOnOne(t *testing.T, options ...option) *service {
	t.Helper()
	if os.Getenv(brokersVariable) != "" {
		return startOnBrokers(t, options...)
	}
	return startEmbedded(t, options...)
}

// startOnBrokers starts a service on empty brokers.
func startOnBrokers(t *testing.T, options ...option) *service {
	t.Helper()
	brokers := emptyBrokers(t)
	ring := filepath.Join(t.TempDir(), "ring")
	if err := keyring.Create(ring); err != nil {
		t.Fatal(err)
	}
	return start(t, append([]option{func(c *settings.Config) {
		c.Brokers, c.KeyRing = brokers, ring
		c.Partitions, c.Replication = 3, 1
	}}, options...)...)
}

func start(t *testing.T, options ...option) *service {
	t.Helper()
	cfg := settings.Default()
	cfg.Listen, cfg.OpsListen = "127.0.0.1:0", "127.0.0.1:0"
	cfg.DataDir = filepath.Join(t.TempDir(), "data")
	cfg.AdminPassword = secret.NewPassword(adminPassword)
	cfg.CheckpointInterval = 0 // signed is what a test asks for
	for _, o := range options {
		o(&cfg)
	}
	if err := cfg.Validate(); err != nil {
		t.Fatal(err)
	}
	s := &service{t: t, cfg: cfg, clock: &clock{}, logs: &buffer{}, out: &buffer{}, http: newClient()}
	s.start()
	t.Cleanup(s.stop)
	return s
}

func (s *service) start() {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	var err error
	s.app, err = app.Start(ctx, s.cfg, app.Deps{
		Log: slog.New(slog.NewJSONHandler(s.logs, nil)), Out: s.out, Now: s.clock.now,
	})
	if err != nil {
		s.t.Fatalf("start: %v\n%s", err, s.logs)
	}
	s.url = s.app.BaseURL()
}

// stop drains the service; a second stop does nothing.
func (s *service) stop() {
	s.t.Helper()
	if s.app == nil {
		return
	}
	s.http.CloseIdleConnections()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := s.app.Stop(ctx); err != nil {
		s.t.Errorf("stop: %v", err)
	}
	s.app = nil
}

// restart ends the service and starts it again on the same folder and log.
func (s *service) restart() {
	s.t.Helper()
	s.stop()
	s.start()
}

// in is the service for a subtest, which fails alone. Only the test that started
// the service may stop it.
func (s *service) in(t *testing.T) *service {
	own := *s
	own.t = t
	return &own
}

// newClient follows no redirect, so that tests see them.
func newClient() *http.Client {
	return &http.Client{
		Transport:     &http.Transport{MaxIdleConnsPerHost: 8, ExpectContinueTimeout: patience},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Timeout:       patience,
	}
}

// answer is a whole HTTP answer.
type answer struct {
	t      *testing.T
	status int
	header http.Header
	body   []byte
}

// json decodes the body.
func (a answer) json(into any) {
	a.t.Helper()
	if err := json.Unmarshal(a.body, into); err != nil {
		a.t.Fatalf("answer %d %q: %v", a.status, a.body, err)
	}
}

// object decodes the body into a map.
func (a answer) object() map[string]any {
	a.t.Helper()
	var m map[string]any
	a.json(&m)
	return m
}

// want fails the test unless the answer has the status.
func (a answer) want(status int) answer {
	a.t.Helper()
	if a.status != status {
		a.t.Fatalf("answered %d, want %d: %s", a.status, status, a.body)
	}
	return a
}

// send sends a request to a path of the service, or to a whole URL.
func (s *service) send(method, path string, body io.Reader, header ...string) answer {
	s.t.Helper()
	if strings.HasPrefix(path, "/") {
		path = s.url + path
	}
	req, err := http.NewRequestWithContext(s.t.Context(), method, path, body)
	if err != nil {
		s.t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Add(header[i], header[i+1])
		if strings.EqualFold(header[i], "host") {
			req.Host = header[i+1]
		}
	}
	return s.do(req)
}

func (s *service) do(req *http.Request) answer {
	s.t.Helper()
	resp, err := s.http.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	read, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return answer{s.t, resp.StatusCode, resp.Header, read}
}

// command runs a management command as the administrator, with parameters as
// key=value.
func (s *service) command(name string, params ...string) answer {
	s.t.Helper()
	form := url.Values{}
	for _, p := range params {
		key, value, _ := strings.Cut(p, "=")
		form.Add(key, value)
	}
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost,
		s.url+"/api/v3/command/"+name, strings.NewReader(form.Encode()))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.SetBasicAuth("admin", adminPassword)
	return s.do(req)
}

// webhook is the record that the management commands answer.
type webhook struct {
	EventKey         string    `json:"eventKey"`
	UUID             string    `json:"uuid"`
	WebhookURL       string    `json:"webhookUrl"`
	PayloadType      string    `json:"payloadType"`
	MaxPayloadLength int       `json:"maxPayloadLength"`
	Enabled          bool      `json:"enabled"`
	Created          time.Time `json:"created"`
	CreatedBy        string    `json:"createdBy"`
	Updated          time.Time `json:"updated"`
	UpdatedBy        string    `json:"updatedBy"`
	Version          int       `json:"version"`
}

// put runs webhook.put, which must succeed.
func (s *service) put(params ...string) webhook {
	s.t.Helper()
	var w webhook
	s.command("webhook.put", params...).want(http.StatusOK).json(&w)
	return w
}

// result is the result JSON.
type result struct {
	StatusCode             int             `json:"statusCode"`
	Status                 string          `json:"status"`
	Value                  json.RawMessage `json:"value"`
	PollingRedirectEnabled bool            `json:"pollingRedirectEnabled"`
	CorrelationID          string          `json:"correlationId"`
	TraceID                string          `json:"traceId"`
}

const receivePath = "/api/v3/command/webhook.receive"

// call posts a body to a webhook with the token in the header.
func (s *service) call(token, contentType, body string, header ...string) answer {
	s.t.Helper()
	return s.send(http.MethodPost, receivePath, strings.NewReader(body),
		append([]string{"token", token, "Content-Type", contentType}, header...)...)
}

// called is call for one that must be accepted.
func (s *service) called(token, contentType, body string, header ...string) result {
	s.t.Helper()
	var r result
	s.call(token, contentType, body, header...).want(http.StatusOK).json(&r)
	return r
}

// poll asks for a result; mode is the value of pollingRedirectEnabled, or empty.
func (s *service) poll(correlationID, mode string) answer {
	s.t.Helper()
	path := "/api/v3/result?svc-result-correlationid=" + url.QueryEscape(correlationID)
	if mode != "" {
		path += "&pollingRedirectEnabled=" + mode
	}
	return s.send(http.MethodGet, path, nil)
}

// ring is the key ring of the service, for tests that seal or open values.
func (s *service) ring() *keyring.Ring {
	s.t.Helper()
	ring, err := keyring.Load(s.cfg.KeyRingPath())
	if err != nil {
		s.t.Fatal(err)
	}
	return ring
}

// kafka is an ordinary client of the service's log: of the brokers, or of the
// window of an embedded log.
func (s *service) kafka(options ...kgo.Opt) *kgo.Client {
	s.t.Helper()
	if s.cfg.Embedded() {
		options = append(options, kgo.SeedBrokers(s.app.WindowAddr().String()),
			kgo.SASL(plain.Auth{User: "reader", Pass: readerPassword}.AsMechanism()))
	} else {
		options = append(options, kgo.SeedBrokers(s.cfg.Brokers...))
	}
	// Test records choose their partition, as the service's own do.
	options = append(options, kgo.RecordPartitioner(kgo.ManualPartitioner()))
	client, err := kgo.NewClient(options...)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(client.Close)
	return client
}

// records reads everything that is on a topic now, partition by partition.
func (s *service) records(topic string) []*kgo.Record {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	ends, err := kadm.NewClient(s.kafka()).ListEndOffsets(ctx, topic)
	if err != nil {
		s.t.Fatal(err)
	}
	missing := int64(0)
	from := map[int32]kgo.Offset{}
	ends.Each(func(o kadm.ListedOffset) {
		if errors.Is(o.Err, kerr.UnknownTopicOrPartition) {
			return // it was not needed yet
		}
		if o.Err != nil {
			s.t.Fatal(o.Err)
		}
		if o.Offset > 0 {
			from[o.Partition] = kgo.NewOffset().AtStart()
			missing += o.Offset
		}
	})
	if missing == 0 {
		return nil
	}
	reader := s.kafka(kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: from}))
	var records []*kgo.Record
	for int64(len(records)) < missing {
		fetches := reader.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			s.t.Fatalf("read %s: %v after %d of %d records", topic, err, len(records), missing)
		}
		records = append(records, fetches.Records()...)
	}
	return records
}

// events reads the event messages of an event key.
func (s *service) events(eventKey string) []map[string]any {
	s.t.Helper()
	var events []map[string]any
	for _, r := range s.records("svc.event." + eventKey) {
		var m map[string]any
		if err := json.Unmarshal(r.Value, &m); err != nil {
			s.t.Fatalf("event %s: %v", r.Value, err)
		}
		events = append(events, m)
	}
	return events
}

// emptyBrokers gives brokers without any topic of a service.
func emptyBrokers(t *testing.T) []string {
	t.Helper()
	if given := os.Getenv(brokersVariable); given != "" {
		brokers := strings.Split(given, ",")
		removeTopics(t, brokers)
		return brokers
	}
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Close)
	return cluster.ListenAddrs()
}

func removeTopics(t *testing.T, brokers []string) {
	t.Helper()
	// What the client remembers of the topics must not be older than a look.
	client, err := kgo.NewClient(kgo.SeedBrokers(brokers...), kgo.MetadataMinAge(10*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	admin := kadm.NewClient(client)
	eventually(t, "the topics are gone", func() bool {
		topics, err := admin.ListTopics(t.Context())
		if err != nil {
			return false
		}
		var own []string
		for _, name := range topics.Names() {
			if strings.HasPrefix(name, "svc.") {
				own = append(own, name)
			}
		}
		if len(own) > 0 {
			_, _ = admin.DeleteTopics(t.Context(), own...)
		}
		return len(own) == 0
	})
}

// eventually waits for what happens behind an answer.
func eventually(t *testing.T, what string, happened func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !happened(); {
		if time.Now().After(end) {
			t.Fatalf("waited in vain: %s", what)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// clock is the service's clock; tests move it forward.
type clock struct {
	mu    sync.Mutex
	ahead time.Duration
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.ahead)
}

func (c *clock) forward(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ahead += d
}

// buffer is a bytes.Buffer for many writers.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}
