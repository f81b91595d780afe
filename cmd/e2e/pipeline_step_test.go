package e2e_test

import (
	"encoding/base64"
	"net/http"
	"slices"
	"strings"
	"time"

	"hooklog/domain/record"
	"hooklog/domain/registry"
)

func webhookSteps(s *service) {
	s.worker("hooker", "webhook.*", "webhook.made.*")
	hook := s.listening("webhook.making", "making", `
- iam.run.as: {user: hooker}
- webhook.put: {eventKey: "webhook.made.${body.payload.name}", payloadHandling: raw}
  output: made
- webhook.put: {uuid: "${vars.made.uuid}", maxPayloadLength: 10, enabled: true, version: 1}
  output: edited
- webhook.get: {uuid: "${vars.made.uuid}"}
  output: read
- webhook.get
- set: {value: {made: "${vars.made}", edited: "${vars.edited}", read: "${vars.read}", all: "${body}"}}
`)
	var got struct {
		Made, Edited, Read webhook
		All                []webhook
	}
	s.called(hook.UUID, asJSON, `{"name":"orders"}`).into(s.t, &got)
	if got.Made.EventKey != "webhook.made.orders" || got.Made.PayloadType != "raw" || got.Made.Version != 1 || got.Made.CreatedBy != "hooker" {
		s.t.Errorf("made %+v", got.Made)
	}
	if got.Edited.UUID != got.Made.UUID || got.Edited.MaxPayloadLength != 10 || got.Edited.Version != 2 || got.Read != got.Edited {
		s.t.Errorf("edited %+v, read %+v", got.Edited, got.Read)
	}
	if !slices.Equal(got.All, []webhook{got.Edited}) {
		s.t.Errorf("webhook.get without uuid gives %+v, want what hooker may read", got.All)
	}
	if r := s.called(got.Made.UUID, asText, "short"); r.Status != "ok" {
		s.t.Errorf("the webhook that was made answers %+v", r)
	}
	s.call(got.Made.UUID, asText, "much too long").want(http.StatusRequestEntityTooLarge)

	s.store("making", listenTo("webhook.making", `
- iam.run.as: {user: hooker}
- webhook.delete: {uuid: "${body.payload.uuid}"}
`))
	var deleted webhook
	r := s.called(hook.UUID, asJSON, `{"uuid":"`+got.Made.UUID+`"}`)
	r.into(s.t, &deleted)
	if deleted != got.Edited {
		s.t.Errorf("webhook.delete gives %+v, want %+v", deleted, got.Edited)
	}
	s.sameAsUnknown(got.Made.UUID)
	// A step fails as the command does over HTTP.
	s.wantFailed(s.called(hook.UUID, asJSON, `{"uuid":"`+got.Made.UUID+`"}`), "No webhook")
	foreign := s.put("eventKey=webhook.not-made")
	s.wantFailed(s.called(hook.UUID, asJSON, `{"uuid":"`+foreign.UUID+`"}`), "hooker may not run webhook.delete on this key")
	if s.cfg.Embedded() {
		return // its window shows no commands
	}
	deletes := 0
	for _, r := range s.records(record.TopicCommand) {
		var c registry.Command
		decodeInto(s.t, string(r.Value), &c)
		if c.Name == "webhook.delete" && c.Principal == "anonymousUser" && c.Effective == "hooker" {
			deletes++
		}
	}
	if deletes != 3 {
		s.t.Errorf("%d records have the deletions with who ran them", deletes)
	}
}

func anonymousMakesNoWebhook(s *service) {
	hook := s.listening("webhook.anonymous", "anonymous", "- webhook.put: {eventKey: webhook.anonymous.made}\n")
	failed := s.wantFailed(s.called(hook.UUID, asJSON, `1`), "anonymousUser may not run webhook.put")
	if failed.Principal != "anonymousUser" || failed.Effective != "anonymousUser" || failed.Owner != "admin" {
		s.t.Errorf("the run is %+v", failed)
	}
	s.put("eventKey=webhook.anonymous.made") // which nobody has
}

func refusedSteps(s *service) {
	refused := func(step, place, why string) {
		s.t.Helper()
		source := listenTo("webhook.refused", "- "+step+"\n")
		for _, a := range []answer{s.command("pipeline.put", "name=refused", "body="+source), s.runNow(source)} {
			if detail := a.refused(http.StatusBadRequest); !strings.Contains(detail, place+": "+why) {
				s.t.Errorf("%s is refused with %q, want %s: %s", step, detail, place, why)
			}
		}
	}
	for _, name := range []string{
		"user.put", "user.get", "user.delete", "client.put", "client.get", "client.delete",
		"policy.put", "policy.get", "policy.delete", "key.rotate", "pipeline.put",
		"run.get", "webhook.list", "webhook.receive", "http.request", "unheard.of",
	} {
		refused(name+": {name: x}", "3:3", `there is no step "`+name+`"`)
	}
	refused("webhook.put: {colour: red}", "3:17", `webhook.put has no parameter "colour"`)
	refused("webhook.put: {maxPayloadLength: much}", "3:35", "maxPayloadLength must be a whole number")
	refused("webhook.delete", "3:3", "webhook.delete needs the parameter uuid")
	refused("set: {value: '${body.}'}", "3:24", "the expression is wrong")
	refused("event.listen: {eventKey: webhook.refused}", "3:3", "event.listen must be the first step")
	s.command("pipeline.get", "name=refused").refused(http.StatusNotFound)
}

func convertOrigin(s *service) {
	for name, sent := range map[string]string{
		"text": "grüße\n\"${body}\" \U0001F600\x00", "bytes": "\xff\x00\xfe\x80not UTF-8", "empty": "",
	} {
		hook := s.put("eventKey=webhook.origin." + name) // base64, by default
		s.store("origin-"+name, listenTo("webhook.origin."+name, `
- set: {value: "${'payload' in body ? body.payload.origin : ''}"}
- convert.fromBase64: {value: "${body}"}
  output: decoded
- convert.fromBase64
- convert.toBase64
body: {decoded: "${vars.decoded}", again: "${body}", size: "${size(vars.decoded)}", function: "${convert.fromBase64(body) == vars.decoded}"}
`))
		var got struct {
			Decoded, Again string
			Size           int
			Function       bool
		}
		s.called(hook.UUID, "application/octet-stream", sent).into(s.t, &got)
		encoded, size := base64.StdEncoding.EncodeToString([]byte(sent)), len([]rune(sent))
		want := sent
		if name == "bytes" { // which JSON has no other form for
			want, size = encoded, len(sent)
		}
		if got.Decoded != want || got.Again != encoded || got.Size != size || !got.Function {
			s.t.Errorf("%s: sent %q, the pipeline has %+v", name, sent, got)
		}
	}
}

func caseSensitiveHeaders(s *service) {
	hook := s.put("eventKey=webhook.headers", "payloadType=raw")
	s.store("headers", "headers: {X-Shop: north, x-shop: south}\n"+listenTo("webhook.headers", `
body:
  upper: ${headers['X-Shop']}
  lower: ${headers['x-shop']}
  other: ${'X-SHOP' in headers}
  caller: ${body.headers['x-caller']}
  callers: ${'X-Caller' in body.headers}
`))
	s.called(hook.UUID, asJSON, `1`, "X-Caller", "me").wantValue(s.t,
		`{"upper":"north","lower":"south","other":false,"caller":"me","callers":false}`)
}

func payloadStaysText(s *service) {
	hook := s.listening("webhook.verbatim", "verbatim", `
- set: {value: "${body.payload}"}
- log: {message: "got ${body.text}"}
- set: {value: {whole: "${body.text}", within: "<${body.text}>", all: "${body}"}}
`)
	const text = `${1 + 1} ${vars.secret} $${x}`
	s.called(hook.UUID, asJSON, `{"text":"`+text+`"}`).wantValue(s.t,
		`{"whole":"`+text+`","within":"<`+text+`>","all":{"text":"`+text+`"}}`)
}

func onError(s *service) {
	hook := s.listening("webhook.trouble", "trouble", `
- webhook.put: {eventKey: webhook.trouble.made}
  id: ignored
  onError: ignore
- wait: {seconds: "${body.payload}"}
  id: waited
  onError: ignore
- convert.fromJson: {value: "${'no JSON'}"}
  id: retried
  if: ${body.payload > 0}
  onError: {retry: {times: 2, wait: 0.01}}
body: ${body.payload}
`)
	s.called(hook.UUID, asJSON, `0`).wantValue(s.t, `0`)
	failed := s.wantFailed(s.called(hook.UUID, asJSON, `0.001`), "Step retried (convert.fromJson) at 10:3: value is no JSON")
	var paths []string
	for _, step := range failed.Steps {
		paths = append(paths, step.Path)
		if took := step.Finished.Sub(step.Started); took < 0 || took > time.Minute || step.Started.Before(failed.Started) {
			s.t.Errorf("a step ran from %s to %s in a run from %s", step.Started, step.Finished, failed.Started)
		}
	}
	if !slices.Equal(paths, []string{"1", "ignored", "waited", "retried"}) || failed.Steps[3].Attempt != 3 {
		s.t.Fatalf("the steps are %+v", failed.Steps)
	}
	if step := failed.Steps[1]; !strings.Contains(step.Error, "anonymousUser may not run webhook.put") || step.CommandID == "" || step.Attempt != 1 {
		s.t.Errorf("what was ignored is recorded as %+v", step)
	}
}

func tooLargeValue(s *service) {
	hook := s.put("eventKey=webhook.large", "payloadType=raw", "maxPayloadLength=4194304")
	s.store("large", listenTo("webhook.large", "body: ${body.payload}"))
	just := strings.Repeat("x", 1<<20-2)
	s.called(hook.UUID, asText, just).wantValue(s.t, `"`+just+`"`)
	failed := s.wantFailed(s.called(hook.UUID, asText, just+"x"), "The final body is too large")
	if len(failed.Error) > 1000 {
		s.t.Errorf("the reason has %d bytes", len(failed.Error))
	}
}
