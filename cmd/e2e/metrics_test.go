package e2e_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"hooklog/cmd/settings"
)

// measured makes every outcome possible that a call can have with the log up.
func measured(c *settings.Config) {
	unhurried(c)
	c.HTTPHosts = []string{"api.example.org"}
	c.WebhookBytes = 1 // a second, beside the burst of the largest call
}

const measuredKey = "webhook.measured"

// exercise does each thing that is measured, and tells how often: by it the
// metrics are held against what was done.
func exercise(s *service) {
	s.t.Helper()
	hook := s.listening(measuredKey, "measured", "- set: {value: '${double(body.payload.n)}'}\n- log: {message: x}\n  if: '${false}'\n")
	s.command("webhook.put", "eventKey="+measuredKey).want(http.StatusConflict)
	s.send(http.MethodGet, "/api/v3/command/webhook.list", nil, "authorization", basic("admin", "not the password")).want(http.StatusUnauthorized)

	s.called(hook.UUID, asJSON, `{"n":1}`).wantValue(s.t, "1")
	s.wantFailed(s.called(hook.UUID, asJSON, `{"m":1}`), "there is no n")
	s.call(nilUUID, asText, "x").want(http.StatusNotFound)
	s.send(http.MethodGet, receivePath+"?pollingRedirectEnabled=maybe", nil, "token", hook.UUID).want(http.StatusBadRequest)
	s.call(hook.UUID, asText, strings.Repeat("x", 600_000)).want(http.StatusRequestEntityTooLarge)
	s.call(hook.UUID, asText, "x", "Content-Encoding", "gzip").want(http.StatusUnsupportedMediaType)
	large := s.put("eventKey=webhook.large", "payloadType=ignore", "maxPayloadLength=4194304")
	s.called(large.UUID, asText, strings.Repeat("x", 4<<20))
	s.call(large.UUID, asText, "one more").want(http.StatusTooManyRequests)

	s.runNow("pipeline: [{http.request: {url: 'https://elsewhere.example'}}]").want(http.StatusForbidden)
}

func TestMetrics(t *testing.T) {
	onBothLogs(t, func(t *testing.T, start func(...option) *service) {
		s := start(measured)
		exercise(s)
		seen := s.scrape()
		for outcome, calls := range map[string]float64{"ok": 2, "invalid": 1, "too-large": 1, "unsupported": 1} {
			seen.want(calls, "hooklog_calls_total", "webhook="+measuredKey, "outcome="+outcome)
		}
		seen.want(1, "hooklog_calls_total", "webhook=webhook.large", "outcome=too-many")
		seen.want(1, "hooklog_calls_total", "webhook=", "outcome=not-found")
		seen.want(8, "hooklog_calls_total")
		seen.want(8, "hooklog_call_duration_seconds_count", "stage=whole")
		for _, stage := range []string{"body", "event", "accepted"} {
			seen.want(3, "hooklog_call_duration_seconds_count", "stage="+stage)
		}
		seen.want(3, "hooklog_append_duration_seconds_count", "class=event")
		seen.want(5, "hooklog_append_duration_seconds_count", "class=call") // three accepted, two completed
		seen.wantSome("hooklog_append_duration_seconds_count", "class=command")
		seen.want(0, "hooklog_append_failures_total")

		seen.want(2, "hooklog_commands_total", "command=webhook.put", "outcome=ok")
		seen.want(1, "hooklog_commands_total", "command=webhook.put", "outcome=conflict")
		seen.want(1, "hooklog_commands_total", "command=webhook.list", "outcome=unauthenticated")
		seen.want(1, "hooklog_commands_total", "command=pipeline.run", "outcome=forbidden")
		seen.want(3, "hooklog_command_duration_seconds_count", "command=webhook.put")
		seen.want(1, "hooklog_logins_total", "outcome=unauthenticated")
		seen.wantSome("hooklog_logins_total", "outcome=ok")

		seen.want(1, "hooklog_runs_total", "pipeline=measured", "outcome=ok")
		seen.want(1, "hooklog_runs_total", "pipeline=measured", "outcome=invalid")
		seen.want(1, "hooklog_runs_total", "pipeline=", "outcome=forbidden")
		seen.want(3, "hooklog_run_duration_seconds_count")
		seen.want(0, "hooklog_runs_in_flight")
		seen.want(2, "hooklog_steps_total", "command=event.listen", "outcome=ok")
		seen.want(1, "hooklog_steps_total", "command=set", "outcome=failed")
		seen.want(1, "hooklog_steps_total", "command=log", "outcome=left-out")
		seen.want(1, "hooklog_outbound_requests_total", "outcome=forbidden")

		seen.want(1, "hooklog_ready")
		for _, projection := range []string{"registry", "calls", "sessions"} {
			seen.want(0, "hooklog_projection_lag_records", "projection="+projection)
			seen.want(0, "hooklog_projection_parked_records_total", "projection="+projection)
		}
		seen.want(5, "hooklog_projection_folded_records_total", "projection=calls")
		seen.want(0, "hooklog_body_budget_used_bytes")
		seen.want(float64(s.cfg.BodyBudget), "hooklog_body_budget_limit_bytes")
		seen.wantSome("hooklog_kafka_requests_total", "request=Produce", "outcome=ok")
		seen.wantSome("hooklog_kafka_connections")
		seen.wantSome("hooklog_store_disk_bytes")
		if embedded := seen.sum("hooklog_embedded_log_bytes") > 0; embedded != s.cfg.Embedded() {
			t.Errorf("the embedded log is measured: %v", embedded)
		}
	})
}

func TestHeldPollsAndRunsInFlightAreMeasured(t *testing.T) {
	t.Parallel()
	s := startOnOne(t, unhurried)
	step, open := s.gate("metrics")
	hook := s.listening("webhook.waits", "waits", step)
	poll := s.hold(s.begin(hook.UUID, asJSON, "1"), 1)
	eventually(t, "the run is under way", func() bool { return s.scrape().sum("hooklog_runs_in_flight") == 1 })
	seen := s.scrape()
	seen.want(1, "hooklog_held_polls")
	seen.want(1, "hooklog_awaited_results")
	open()
	poll.released().want(http.StatusOK)
	seen = s.scrape()
	seen.want(0, "hooklog_held_polls")
	seen.want(0, "hooklog_awaited_results")
}

func TestWebhooksBeyondTheFirstAreMeasuredTogether(t *testing.T) {
	t.Parallel()
	const webhooks, named = 300, 200
	s := startOnOne(t, func(c *settings.Config) { c.UserRate = 0 })
	for i := range webhooks {
		s.called(s.put(fmt.Sprintf("eventKey=webhook.many.n%d", i)).UUID, asText, "x")
	}
	seen := s.scrape()
	series := map[string]int{}
	for _, one := range seen.samples {
		series[one.name]++
	}
	if n := series["hooklog_calls_total"]; n != named+1 {
		t.Errorf("%d webhooks have %d series, want %d", webhooks, n, named+1)
	}
	seen.want(webhooks-named, "hooklog_calls_total", "webhook=other", "outcome=ok")
	for name, n := range series {
		if n >= webhooks {
			t.Errorf("%s has %d series", name, n)
		}
	}
}

func TestOnlyOperatorsAreShownMetrics(t *testing.T) {
	t.Parallel()
	s := startOnOne(t)
	s.send(http.MethodGet, "/metrics", nil).want(http.StatusNotFound)
	s.send(http.MethodPost, "http://"+s.app.OpsAddr().String()+"/metrics", nil).want(http.StatusMethodNotAllowed)
}

// A log that was quiet for long is proved; what comes then is new.
func TestTheAgeOfWhatIsNotProvedCountsFromWhenItCame(t *testing.T) {
	t.Parallel()
	s := startOnOne(t, func(c *settings.Config) { c.CheckpointInterval = 3 * time.Second })
	hook := s.put("eventKey=webhook.quiet")
	const age = "hooklog_checkpoint_age_seconds"
	eventually(t, "all is proved", func() bool { return s.scrape().sum(age) == 0 })
	s.clock.forward(time.Hour)
	s.scrape().want(0, age)
	s.called(hook.UUID, asText, "x")
	if got := s.scrape().sum(age); got > 600 {
		t.Errorf("what came a moment ago has been without a checkpoint for %v s", got)
	}
}
