package e2e_test

import (
	"context"
	"log/slog"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"hooklog/cmd/app"
	"hooklog/cmd/settings"
	"hooklog/domain/secret"
	"hooklog/transport/keyring"
)

// launch starts a service on brokers that does not get ready at once, so that
// its listeners can be asked meanwhile. It ends with the test.
func launch(t *testing.T, brokers string) (s *service, ops string, started func()) {
	t.Helper()
	folder := t.TempDir()
	cfg := settings.Default()
	cfg.Brokers, cfg.Replication = []string{brokers}, 1
	cfg.Listen, cfg.OpsListen = freeAddress(t), freeAddress(t)
	cfg.DataDir, cfg.KeyRing = filepath.Join(folder, "data"), filepath.Join(folder, "ring")
	cfg.AdminPassword = secret.NewPassword(adminPassword)
	if err := keyring.Create(cfg.KeyRing); err != nil {
		t.Fatal(err)
	}
	s = &service{
		t: t, cfg: cfg, clock: &clock{}, logs: &buffer{}, out: &buffer{}, http: newClient(),
		url: "http://" + cfg.Listen,
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		var err error
		s.app, err = app.Start(ctx, cfg, app.Deps{Log: slog.New(slog.NewJSONHandler(s.logs, nil)), Out: s.out, Now: s.clock.now})
		ended <- err
	}()
	begun := false
	t.Cleanup(func() {
		cancel()
		if begun {
			s.stop()
		} else if err := <-ended; err == nil {
			t.Error("a start that was given up succeeded")
		}
	})
	eventually(t, "the listeners answer", func() bool {
		resp, err := s.http.Get("http://" + cfg.OpsListen + "/healthz")
		if err == nil {
			_ = resp.Body.Close()
		}
		return err == nil
	})
	return s, "http://" + cfg.OpsListen, func() {
		t.Helper()
		begun = true
		if err := <-ended; err != nil {
			t.Fatalf("start: %v\n%s", err, s.logs)
		}
	}
}

// notReady fails the test unless the service says that it cannot serve, and the
// reason to operators only.
func notReady(t *testing.T, s *service, ops, reason string) {
	t.Helper()
	eventually(t, "operators are told: "+reason, func() bool {
		a := s.send(http.MethodGet, ops+"/readyz", nil).want(http.StatusServiceUnavailable)
		return strings.Contains(a.object()["detail"].(string), reason)
	})
	s.send(http.MethodGet, "/healthz", nil).want(http.StatusOK)
	s.send(http.MethodGet, ops+"/healthz", nil).want(http.StatusOK)
	measured := parseScrape(t, s.send(http.MethodGet, ops+"/metrics", nil).want(http.StatusOK).body)
	if len(measured.labels("hooklog_build_info")) == 0 || measured.sum("hooklog_ready") != 0 {
		t.Error("the metrics do not say that it is not ready")
	}
	for _, a := range []answer{
		s.send(http.MethodGet, "/readyz", nil),
		s.command("webhook.put", "eventKey=webhook.demo"),
		s.call(nilUUID, asJSON, `{}`),
		s.poll(nilUUID, ""),
	} {
		wantProblem(t, a, http.StatusServiceUnavailable, false)
		if after, err := strconv.Atoi(a.header.Get("Retry-After")); err != nil || after < 1 {
			t.Errorf("Retry-After %q", a.header.Get("Retry-After"))
		}
		if strings.Contains(string(a.body), reason) {
			t.Errorf("callers are told the reason: %s", a.body)
		}
	}
}

// works fails the test unless the service does all that it is for.
func works(t *testing.T, s *service, eventKey string) {
	t.Helper()
	s.send(http.MethodGet, "/readyz", nil).want(http.StatusOK)
	hook := s.put("eventKey=" + eventKey)
	called := s.called(hook.UUID, asJSON, `{}`)
	s.poll(called.CorrelationID, "").want(http.StatusOK)
}

func TestAServiceWaitsForItsBrokers(t *testing.T) {
	t.Parallel()
	brokers := freeAddress(t)
	s, ops, started := launch(t, brokers)
	notReady(t, s, ops, brokers)

	_, port, _ := strings.Cut(brokers, ":")
	number, err := strconv.Atoi(port)
	if err != nil {
		t.Fatal(err)
	}
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.Ports(number))
	if err != nil {
		t.Fatal(err)
	}
	defer cluster.Close()
	started()
	defer s.stop()
	works(t, s, "webhook.demo")
	s.send(http.MethodGet, ops+"/readyz", nil).want(http.StatusOK)
}

func TestAServiceWaitsForTopicsThatFit(t *testing.T) {
	t.Parallel()
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(2, "svc.command"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Close)
	s, ops, started := launch(t, cluster.ListenAddrs()[0])
	notReady(t, s, ops, "svc.command has partitions=2 where 1 is needed")

	client, err := kgo.NewClient(kgo.SeedBrokers(cluster.ListenAddrs()...))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if _, err := kadm.NewClient(client).DeleteTopics(t.Context(), "svc.command"); err != nil {
		t.Fatal(err)
	}
	started()
	works(t, s, "webhook.demo")
}

func TestAFoldThatMustStopEndsTheService(t *testing.T) {
	t.Parallel()
	s := startOnBrokers(t)
	works(t, s, "webhook.demo")
	appendTo(t, s, "svc.command", kgo.RecordHeader{Key: "svc-min-reader", Value: []byte("99")})
	const reason = "needs reader level 99 and this release has 1; run a newer release"
	if err := <-s.app.Failed(); err == nil || !strings.Contains(err.Error(), reason) {
		t.Errorf("failed with %v", err)
	}
	notReady(t, s, "http://"+s.app.OpsAddr().String(), reason)
}

func TestRecordsThatNobodyUnderstandsAreParked(t *testing.T) {
	t.Parallel()
	s := startOnBrokers(t)
	for _, topic := range []string{"svc.command", "svc.call"} {
		appendTo(t, s, topic)
		appendTo(t, s, topic, kgo.RecordHeader{Key: "svc-type", Value: []byte("command/1")})
		appendTo(t, s, topic, kgo.RecordHeader{Key: "svc-type", Value: []byte("call.accepted/1")})
	}
	works(t, s, "webhook.before")
	eventually(t, "both folds tell of parked records", func() bool {
		logs := s.logs.String()
		return strings.Contains(logs, `"projection":"registry","count"`) && strings.Contains(logs, `"projection":"calls","count"`)
	})
	for _, projection := range []string{"registry", "calls"} {
		s.scrape().want(3, "hooklog_projection_parked_records_total", "projection="+projection)
	}
	s.restart()
	works(t, s, "webhook.after")
}

// appendTo writes a record that is none of the service's to its brokers.
func appendTo(t *testing.T, s *service, topic string, headers ...kgo.RecordHeader) {
	t.Helper()
	r := &kgo.Record{Topic: topic, Key: []byte("key"), Value: []byte("what is this?"), Headers: headers}
	if err := s.kafka().ProduceSync(t.Context(), r).FirstErr(); err != nil {
		t.Fatal(err)
	}
}

func TestOperatorsHaveAListenerOfTheirOwn(t *testing.T) {
	s := start(t)
	ops := "http://" + s.app.OpsAddr().String()
	for _, path := range []string{"/debug/pprof/", "/debug/pprof/heap?debug=1", "/debug/pprof/cmdline"} {
		s.send(http.MethodGet, ops+path, nil).want(http.StatusOK)
		s.send(http.MethodGet, path, nil).want(http.StatusNotFound)
	}
	s.send(http.MethodPost, ops+receivePath, nil, "token", nilUUID).want(http.StatusNotFound)

	s = start(t, func(c *settings.Config) { c.OpsListen = "" })
	if s.app.OpsAddr() != nil || strings.Contains(s.out.String(), "operators") {
		t.Errorf("the listener is not off: %v\n%s", s.app.OpsAddr(), s.out)
	}
}
