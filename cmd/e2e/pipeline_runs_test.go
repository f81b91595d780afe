package e2e_test

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"hooklog/domain/call"
	"hooklog/domain/record"
)

func oneOfSeveralFails(s *service) {
	hook := s.listening("webhook.several", "several-good", "body: good")
	s.store("several-bad", listenTo("webhook.several", "- convert.fromJson: {value: '${body.payload}'}\n"))
	s.called(hook.UUID, asText, `{"n":1}`).wantValue(s.t, `{"several-good":"good","several-bad":{"n":1}}`)
	const canary = "canary-5c1e"
	r := s.called(hook.UUID, asText, canary)
	failed := s.wantFailed(r, "value is no JSON")
	if failed.Pipeline != "several-bad" {
		s.t.Errorf("failed as %+v", failed)
	}
	if strings.Contains(s.logs.String(), canary) || holding(s.records(record.TopicCall), canary) > 0 {
		s.t.Error("what the caller sent is not only in its event")
	}
	var statuses []string
	for _, run := range s.runs("correlationId=" + r.CorrelationID) {
		statuses = append(statuses, run.Pipeline+" "+run.Status)
	}
	slices.Sort(statuses)
	if !slices.Equal(statuses, []string{"several-bad error", "several-good ok"}) {
		s.t.Errorf("the runs are %v", statuses)
	}
	polled := s.await(r.CorrelationID)
	if polled.Status != "error" || string(polled.Value) != string(r.Value) {
		s.t.Errorf("polled %+v after %+v", polled, r)
	}
}

func getRuns(s *service) {
	hook := s.listening("webhook.seen", "seen", "- webhook.put: {eventKey: webhook.seen.too}\n  id: make\n")
	r := s.called(hook.UUID, asJSON, `1`)
	failed := s.wantFailed(r, "Step make (webhook.put) at 3:3: anonymousUser may not run webhook.put")
	if failed.CorrelationID != r.CorrelationID || failed.TraceID != r.TraceID || failed.EventKey != "webhook.seen" ||
		failed.Version != 1 || failed.Attempt != 1 || failed.Started.IsZero() || failed.Finished.Before(failed.Started) {
		s.t.Errorf("the run is %+v", failed)
	}
	if len(failed.Steps) != 2 || failed.Steps[0].Command != "event.listen" || failed.Steps[0].Error != "" ||
		failed.Steps[1].Path != "make" || failed.Steps[1].CommandID == "" || failed.Steps[1].Error == "" {
		s.t.Errorf("the steps are %+v", failed.Steps)
	}
	if listed := s.runs("pipeline=seen", "status=error"); len(listed) != 1 || listed[0].Error != failed.Error {
		s.t.Errorf("listed %+v", listed)
	}
	if listed := s.runs("pipeline=seen", "status=ok"); len(listed) != 0 {
		s.t.Errorf("listed as ok: %+v", listed)
	}

	ann := s.user("seen-ann", kimsPassword)
	ann.forbidden("run.get")
	ann.forbidden("run.get", "correlationId="+r.CorrelationID)
	ann.forbidden("run.retry", "correlationId="+r.CorrelationID)
	s.command("policy.put", "name=seen", "users=seen-ann", "commands=run.get", "keys=unseen").want(http.StatusOK)
	if got := append(ann.runs(), ann.runs("correlationId="+r.CorrelationID)...); len(got) != 0 {
		s.t.Errorf("whoever may not read the pipeline sees %+v", got)
	}
	s.command("policy.put", "name=seen", "users=seen-ann", "commands=run.get", "keys=seen").want(http.StatusOK)
	if got := ann.runs(); len(got) != 1 || got[0].Error != failed.Error || len(got[0].Steps) != 2 {
		s.t.Errorf("whoever may sees %+v", got)
	}
	ann.forbidden("run.retry", "correlationId="+r.CorrelationID)
}

func retryRuns(s *service) {
	step, open := s.gate("retried")
	cure := s.put("eventKey=webhook.cure")
	hook := s.listening("webhook.ill", "ill", "- event.receive: {eventKey: webhook.cure}\n"+step+"body: cured")
	r := s.called(hook.UUID, asJSON, `1`)
	s.wantFailed(r, "No event that may be received fits")

	retry := func() answer { return s.command("run.retry", "correlationId="+r.CorrelationID) }
	attempts := func() (all []string) {
		for _, run := range s.runs("correlationId=" + r.CorrelationID) {
			all = append(all, strconv.Itoa(run.Attempt)+" "+run.Status)
		}
		return all
	}
	retry().want(http.StatusOK) // in vain
	eventually(s.t, "the second attempt ends", func() bool { return attempts()[0] == "2 error" })
	s.called(cure.UUID, asJSON, `1`)
	retry().want(http.StatusOK)
	var polled result
	s.poll(r.CorrelationID, "false").want(http.StatusOK).json(&polled)
	if polled.Status != "processing" || string(polled.Value) != "null" {
		s.t.Errorf("after a retry the call is %+v", polled)
	}
	if got := attempts(); !slices.Equal(got, []string{"3 processing", "2 error", "1 error"}) {
		s.t.Errorf("the attempts are %v", got)
	}
	retry().refused(http.StatusConflict) // it has not failed
	open()
	s.await(r.CorrelationID).wantValue(s.t, `"cured"`)
	retry().refused(http.StatusConflict)

	if !s.cfg.Embedded() {
		// What comes late, of this attempt or of one before, does not count.
		late := &slow{s: s, client: s.kafka(), id: r.CorrelationID, partition: call.Partition(r.CorrelationID, s.cfg.EffectivePartitions())}
		late.failed("ill@1", 3)
		late.done("ill@1", 2, `"late"`)
		s.folded()
	}
	s.await(r.CorrelationID).wantValue(s.t, `"cured"`)
	if got := attempts(); !slices.Equal(got, []string{"3 ok", "2 error", "1 error"}) {
		s.t.Errorf("the attempts are %v", got)
	}
	s.command("run.retry", "correlationId="+nilUUID).refused(http.StatusNotFound)
}

func deletedPipelineRuns(s *service) {
	step, open := s.gate("deleted")
	hook := s.listening("webhook.deleted", "deleted", step+"body: still")
	id := s.begin(hook.UUID, asJSON, `1`)
	s.command("pipeline.delete", "name=deleted").want(http.StatusOK)
	r := s.called(hook.UUID, asJSON, `1`)
	r.wantValue(s.t, `{"status":"OK","traceId":"`+r.TraceID+`"}`)
	open()
	s.await(id).wantValue(s.t, `"still"`)
}

func newVersionRuns(s *service) {
	step, open := s.gate("versions")
	hook := s.listening("webhook.versions", "versions", step+"body: first")
	id := s.begin(hook.UUID, asJSON, `1`)
	if p := s.store("versions", listenTo("webhook.versions", "body: second")); p.Version != 2 {
		s.t.Errorf("stored %+v", p)
	}
	s.called(hook.UUID, asJSON, `1`).wantValue(s.t, `"second"`)
	open()
	s.await(id).wantValue(s.t, `"first"`)
	if runs := s.runs("pipeline=versions"); len(runs) != 2 || runs[0].Version != 2 || runs[1].Version != 1 {
		s.t.Errorf("the runs are %+v", runs)
	}
}
