package metrics_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"hooklog/domain/call"
	"hooklog/domain/fault"
	"hooklog/transport/telemetry/metrics"
)

func TestACallIsCountedByOutcomeAndItsStagesAreTimed(t *testing.T) {
	m := newMetrics(t)
	m.Call(metrics.Call{EventKey: "webhook.a", Body: time.Millisecond, Event: time.Second, Accepted: 2 * time.Second, Whole: 4 * time.Second})
	m.Call(metrics.Call{EventKey: "webhook.a", Whole: time.Millisecond, Err: fault.New(fault.TooLarge, "x")})
	m.Call(metrics.Call{Whole: time.Millisecond, Err: fault.New(fault.NotFound, "x")})
	m.Call(metrics.Call{EventKey: "webhook.a", Body: time.Millisecond, Whole: time.Millisecond, Err: errors.New("of no kind")})
	scrape(t, m).want(t,
		`hooklog_calls_total{outcome="ok",webhook="webhook.a"}`, "1",
		`hooklog_calls_total{outcome="too-large",webhook="webhook.a"}`, "1",
		`hooklog_calls_total{outcome="internal",webhook="webhook.a"}`, "1",
		`hooklog_calls_total{outcome="not-found",webhook=""}`, "1",
		`hooklog_call_duration_seconds_count{stage="body"}`, "2",
		`hooklog_call_duration_seconds_sum{stage="event"}`, "1",
		`hooklog_call_duration_seconds_sum{stage="accepted"}`, "2",
		`hooklog_call_duration_seconds_count{stage="whole"}`, "4",
		`hooklog_call_duration_seconds_bucket{stage="event",le="0.5"}`, "0",
		`hooklog_call_duration_seconds_bucket{stage="event",le="1"}`, "1",
	)
}

func TestNamesAreBounded(t *testing.T) {
	const many = metrics.MaxNames + 100
	m := newMetrics(t)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for i := range many {
				m.Call(metrics.Call{EventKey: fmt.Sprintf("webhook.n%d", i)})
				m.Run(fmt.Sprintf("pipeline-%d", i))(nil, nil)
			}
		})
	}
	all.Wait()
	seen := scrape(t, m)
	for _, metric := range []string{"hooklog_calls_total", "hooklog_runs_total"} {
		if n := seen.of(metric); n != metrics.MaxNames+1 {
			t.Errorf("%s has %d series, want %d", metric, n, metrics.MaxNames+1)
		}
	}
	if n := seen[`hooklog_calls_total{outcome="ok",webhook="other"}`]; n != "400" {
		t.Errorf("%s calls of other webhooks, want 400", n)
	}
}

func TestAppendsAreCountedByClassOfTopic(t *testing.T) {
	m := newMetrics(t)
	for i := range 10 {
		m.Append(fmt.Sprintf("svc.event.webhook.n%d", i), time.Second, nil)
	}
	for _, topic := range []string{"svc.call", "svc.command", "svc.access", "svc.session", "orders", "stock"} {
		m.Append(topic, time.Second, nil)
	}
	m.Append("svc.event.webhook.a", time.Second, errors.New("full"))
	m.Append("orders", time.Second, errors.New("full"))
	seen := scrape(t, m)
	seen.want(t,
		`hooklog_append_duration_seconds_count{class="event"}`, "10",
		`hooklog_append_duration_seconds_count{class="call"}`, "1",
		`hooklog_append_duration_seconds_count{class="command"}`, "1",
		`hooklog_append_duration_seconds_count{class="access"}`, "1",
		`hooklog_append_duration_seconds_count{class="session"}`, "1",
		`hooklog_append_duration_seconds_count{class="message"}`, "2",
		`hooklog_append_failures_total{class="event"}`, "1",
		`hooklog_append_failures_total{class="message"}`, "1",
		`hooklog_append_failures_total{class="call"}`, "0",
	)
	if n := seen.of("hooklog_append_duration_seconds_count"); n != 6 {
		t.Errorf("there are %d classes", n)
	}
}

func TestCommandsAndLogins(t *testing.T) {
	m := newMetrics(t)
	m.Command("webhook.put", time.Second, nil)
	m.Command("webhook.put", time.Second, fault.New(fault.Conflict, "taken"))
	m.Login(nil)
	m.Login(fault.New(fault.Unauthenticated, "wrong"))
	m.Login(fault.New(fault.TooMany, "too often"))
	scrape(t, m).want(t,
		`hooklog_commands_total{command="webhook.put",outcome="ok"}`, "1",
		`hooklog_commands_total{command="webhook.put",outcome="conflict"}`, "1",
		`hooklog_command_duration_seconds_count{command="webhook.put"}`, "2",
		`hooklog_logins_total{outcome="ok"}`, "1",
		`hooklog_logins_total{outcome="unauthenticated"}`, "1",
		`hooklog_logins_total{outcome="too-many"}`, "1",
	)
}

func TestRunsStepsAndRequests(t *testing.T) {
	m := newMetrics(t)
	ended := m.Run("orders")
	m.Run("orders")
	scrape(t, m).want(t, "hooklog_runs_in_flight", "2")
	ended([]call.Step{{Command: "set", Attempt: 1}, {Command: "wait"}, {Command: "http.request", Attempt: 1, Error: "no answer"}},
		fault.New(fault.Unavailable, "no answer"))
	m.Run("")(nil, nil)
	m.Run("orders")(nil, fmt.Errorf("run: %w", context.Canceled))
	m.Request(204, time.Second, nil)
	m.Request(0, time.Second, fault.New(fault.Forbidden, "not listed"))
	scrape(t, m).want(t,
		"hooklog_runs_in_flight", "1",
		"hooklog_run_duration_seconds_count", "3",
		`hooklog_runs_total{outcome="unavailable",pipeline="orders"}`, "1",
		`hooklog_runs_total{outcome="given-up",pipeline="orders"}`, "1",
		`hooklog_runs_total{outcome="ok",pipeline=""}`, "1",
		`hooklog_steps_total{command="set",outcome="ok"}`, "1",
		`hooklog_steps_total{command="wait",outcome="left-out"}`, "1",
		`hooklog_steps_total{command="http.request",outcome="failed"}`, "1",
		`hooklog_outbound_requests_total{outcome="2xx"}`, "1",
		`hooklog_outbound_requests_total{outcome="forbidden"}`, "1",
		"hooklog_outbound_request_duration_seconds_count", "2",
	)
}

func TestKafkaClient(t *testing.T) {
	m := newMetrics(t)
	hook := m.Kafka().(interface {
		kgo.HookBrokerConnect
		kgo.HookBrokerDisconnect
		kgo.HookBrokerE2E
		kgo.HookBrokerThrottle
	})
	broker, produce := kgo.BrokerMetadata{}, int16(kmsg.Produce)
	hook.OnBrokerConnect(broker, 0, nil, nil)
	hook.OnBrokerConnect(broker, 0, nil, nil)
	hook.OnBrokerConnect(broker, 0, nil, errors.New("refused"))
	hook.OnBrokerDisconnect(broker, nil)
	hook.OnBrokerE2E(broker, produce, kgo.BrokerE2E{BytesWritten: 100, BytesRead: 10, TimeToRead: time.Second})
	hook.OnBrokerE2E(broker, produce, kgo.BrokerE2E{BytesWritten: 50, ReadErr: errors.New("reset")})
	hook.OnBrokerE2E(broker, 32767, kgo.BrokerE2E{BytesWritten: 1})
	hook.OnBrokerThrottle(broker, 1500*time.Millisecond, true)
	scrape(t, m).want(t,
		`hooklog_kafka_connects_total{outcome="ok"}`, "2",
		`hooklog_kafka_connects_total{outcome="failed"}`, "1",
		"hooklog_kafka_connections", "1",
		`hooklog_kafka_requests_total{outcome="ok",request="Produce"}`, "1",
		`hooklog_kafka_requests_total{outcome="failed",request="Produce"}`, "1",
		`hooklog_kafka_request_duration_seconds_sum{request="Produce"}`, "1",
		"hooklog_kafka_written_bytes_total", "151",
		"hooklog_kafka_read_bytes_total", "10",
		"hooklog_kafka_throttled_seconds_total", "1.5",
	)
}

func TestWhatIsWatchedIsReadAtEachScrape(t *testing.T) {
	m := newMetrics(t)
	lag := int64(7)
	stop, err := m.Watch(metrics.Sources{
		Unproven:           func() time.Duration { return time.Minute },
		SinkFailures:       func() int64 { return 11 },
		CheckpointInterval: time.Hour,
		Projections: func(ctx context.Context) []metrics.Projection {
			if _, bounded := ctx.Deadline(); !bounded {
				t.Error("the log may be asked for ever")
			}
			return []metrics.Projection{{Name: "calls", Folded: 100, Lag: lag, Parked: 3, Age: 1500 * time.Millisecond}}
		},
		Store: func() metrics.Store {
			return metrics.Store{DiskBytes: 1, MemTableBytes: 2, CacheBytes: 3, CacheHits: 4, CacheMisses: 5, Compactions: 6, CompactionDebtBytes: 7, ReadAmplification: 8}
		},
		Load: func() metrics.Load {
			return metrics.Load{HeldPolls: 1, AwaitedResults: 2, BudgetUsed: 3, BudgetLimit: 4, BufferedRecords: 5, BufferedBytes: 6}
		},
		EmbeddedLog: func() (used, limit int64) { return 9, 10 },
	})
	if err != nil {
		t.Fatal(err)
	}
	scrape(t, m).want(t,
		`hooklog_projection_folded_records_total{projection="calls"}`, "100",
		`hooklog_projection_lag_records{projection="calls"}`, "7",
		`hooklog_projection_age_seconds{projection="calls"}`, "1.5",
		`hooklog_projection_parked_records_total{projection="calls"}`, "3",
		"hooklog_store_disk_bytes", "1", "hooklog_store_memtable_bytes", "2", "hooklog_store_cache_bytes", "3",
		"hooklog_store_cache_hits_total", "4", "hooklog_store_cache_misses_total", "5", "hooklog_store_compactions_total", "6",
		"hooklog_store_compaction_debt_bytes", "7", "hooklog_store_read_amplification", "8",
		"hooklog_held_polls", "1", "hooklog_awaited_results", "2",
		"hooklog_body_budget_used_bytes", "3", "hooklog_body_budget_limit_bytes", "4",
		"hooklog_kafka_buffered_records", "5", "hooklog_kafka_buffered_bytes", "6",
		"hooklog_checkpoint_age_seconds", "60", "hooklog_checkpoint_sink_failures_total", "11",
		"hooklog_checkpoint_interval_seconds", "3600",
		"hooklog_embedded_log_bytes", "9", "hooklog_embedded_log_limit_bytes", "10",
	)
	lag = 0
	scrape(t, m).want(t, `hooklog_projection_lag_records{projection="calls"}`, "0")
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	scrape(t, m).want(t, `hooklog_projection_lag_records{projection="calls"}`, "", "hooklog_store_disk_bytes", "")
}

func TestTheServiceDescribesItself(t *testing.T) {
	seen := scrape(t, newMetrics(t))
	seen.want(t,
		fmt.Sprintf(`hooklog_build_info{go_version=%q,version="v1.2.3"}`, runtime.Version()), "1",
		"hooklog_ready", "0",
	)
	for _, name := range []string{"go_goroutines", "process_resident_memory_bytes"} {
		if seen[name] == "" {
			t.Errorf("%s is missing", name)
		}
	}
}
