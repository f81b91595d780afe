package e2e_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/twmb/franz-go/pkg/kgo"
	"go.yaml.in/yaml/v3"
)

// asyncAPI is the AsyncAPI document that a service serves.
type asyncAPI struct {
	t        *testing.T
	compiler *jsonschema.Compiler
	messages map[string]asyncMessage
}

// asyncMessage is the part of a message that is not a schema.
type asyncMessage struct {
	Name string
	// ContentType is JSON, or that of a text.
	ContentType string `yaml:"contentType"`
	Bindings    map[string]any
	Examples    []struct{ Name, Headers, Payload any }
}

// asyncAPIOf reads the document. Its schemas are those of AsyncAPI 3.0: JSON
// Schema draft 7.
func asyncAPIOf(t *testing.T, s *service) *asyncAPI {
	t.Helper()
	text := s.send(http.MethodGet, "/api/v3/asyncapi.yaml", nil).want(http.StatusOK).body
	var doc struct {
		Components struct{ Messages map[string]asyncMessage }
	}
	var plain any
	for _, into := range []any{&doc, &plain} {
		if err := yaml.Unmarshal(text, into); err != nil {
			t.Fatal(err)
		}
	}
	a := &asyncAPI{t: t, compiler: jsonschema.NewCompiler(), messages: doc.Components.Messages}
	a.compiler.DefaultDraft(jsonschema.Draft7)
	a.compiler.AssertFormat()
	a.compiler.AssertContent()
	if err := a.compiler.AddResource("asyncapi.yaml", asJSONValue(t, plain)); err != nil {
		t.Fatal(err)
	}
	return a
}

// asJSONValue is a value as the validator wants it.
func asJSONValue(t *testing.T, value any) any {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	decoded, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return decoded
}

// validate holds a value against the schema at a place below components.
func (a *asyncAPI) validate(place string, value any) error {
	a.t.Helper()
	schema, err := a.compiler.Compile("asyncapi.yaml#/components/" + place)
	if err != nil {
		a.t.Fatal(err)
	}
	return schema.Validate(asJSONValue(a.t, value))
}

// messageOf finds the message that a record is: by its type, or else the event.
func (a *asyncAPI) messageOf(r *kgo.Record) (string, error) {
	name := "event"
	for _, h := range r.Headers {
		if h.Key == "svc-type" {
			name = string(h.Value)
		}
	}
	for id, message := range a.messages {
		if message.Name == name {
			return id, nil
		}
	}
	return "", fmt.Errorf("no message %s", name)
}

// check holds a record's key, headers and value against its message.
func (a *asyncAPI) check(r *kgo.Record) error {
	a.t.Helper()
	id, err := a.messageOf(r)
	if err != nil {
		return err
	}
	headers := map[string]string{}
	for _, h := range r.Headers {
		if _, twice := headers[h.Key]; twice {
			return fmt.Errorf("header %s twice", h.Key)
		}
		headers[h.Key] = string(h.Value)
	}
	if err := a.validate("messages/"+id+"/headers", headers); err != nil {
		return fmt.Errorf("headers %v: %w", headers, err)
	}
	value := any(json.RawMessage(r.Value))
	if a.messages[id].ContentType == "text/plain" {
		value = string(r.Value)
	}
	if err := a.validate("messages/"+id+"/payload", value); err != nil {
		return fmt.Errorf("value %s: %w", r.Value, err)
	}
	if a.messages[id].Bindings == nil {
		if r.Key != nil {
			return fmt.Errorf("key %s", r.Key)
		}
		return nil
	}
	return a.validate("messages/"+id+"/bindings/kafka/key", string(r.Key))
}

func TestAsyncAPIExamplesFitTheirSchemas(t *testing.T) {
	a := asyncAPIOf(t, startOnOne(t))
	for id, message := range a.messages {
		if len(message.Examples) == 0 {
			t.Errorf("%s has no example", id)
		}
		for _, example := range message.Examples {
			if err := a.validate("messages/"+id+"/headers", example.Headers); err != nil {
				t.Errorf("headers of example %v of %s: %v", example.Name, id, err)
			}
			if err := a.validate("messages/"+id+"/payload", example.Payload); err != nil {
				t.Errorf("payload of example %v of %s: %v", example.Name, id, err)
			}
		}
	}
}

// Everything that the service writes is on its topics as the AsyncAPI document
// says, and what a payload is follows from the webhook.
func TestRecordsAreAsDocumented(t *testing.T) {
	s := startOnBrokers(t)
	a := asyncAPIOf(t, s)
	kinds := s.callAllKinds()
	hook := s.put("eventKey=webhook.gone", "payloadType=ignore")
	s.put("uuid="+hook.UUID, "eventKey=webhook.moved", "maxPayloadLength=1", "enabled=false", "version=1")
	s.command("webhook.get").want(http.StatusOK)
	s.command("webhook.get", "uuid="+hook.UUID).want(http.StatusOK)
	s.command("webhook.get", "uuid="+hook.UUID, "at="+rfc(hook.Created)).want(http.StatusOK)
	s.command("audit.get", "webhook="+hook.UUID[30:], "limit=3").want(http.StatusOK)
	s.command("webhook.delete", "uuid="+hook.UUID).want(http.StatusOK)
	s.command("webhook.list").want(http.StatusOK)
	s.command("webhook.list", "limit=0").want(http.StatusBadRequest)
	slow := s.slow("orders@1", "stock@2")
	slow.done("orders@1", 1, `{"stored":true}`)
	slow.failed("stock@2", 1)
	s.manageIdentity()
	s.managePipelines()
	s.manageCheckpoints()
	s.logInAndOut()
	kinds["webhook.docs.fails"], kinds["webhook.docs.sends"], kinds["docs.sent"] = "RawPayload", "RawPayload", "RawPayload"

	// Six looks and three grants are written behind their answers.
	eventually(t, "all of them are on the log", func() bool { return len(s.records("svc.access")) == 9 })
	s.call(hook.UUID, asJSON, "1").want(http.StatusNotFound)
	s.stop() // writes the counts of refused calls and of failed log-ins

	seen := map[string]int{}
	topics := []string{"svc.command", "svc.call", "svc.access", "svc.session", "svc.checkpoint"}
	for eventKey := range kinds {
		topics = append(topics, "svc.event."+eventKey)
	}
	for _, topic := range topics {
		for _, r := range s.records(topic) {
			if err := a.check(r); err != nil {
				t.Errorf("%s: %v", topic, err)
				continue
			}
			id, _ := a.messageOf(r)
			seen[id]++
			if id == "event" {
				a.wantPayload(r, kinds[strings.TrimPrefix(topic, "svc.event.")])
			}
		}
	}
	for id := range a.messages {
		if seen[id] == 0 {
			t.Errorf("no record of %s was read", id)
		}
	}
	t.Logf("records held against the document: %v", seen)
}

// callAllKinds calls webhooks in every way that gives another event. It names the
// kind of payload by event key; empty means that there is none.
func (s *service) callAllKinds() map[string]string {
	s.t.Helper()
	const files = "multipart/form-data; boundary=b"
	file := "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\nContent-Type: text/plain\r\n\r\nhi\r\n"
	kinds := map[string]string{}
	for _, c := range []struct {
		eventKey, payloadType, kind string
		calls                       []exchange
	}{
		{"webhook.encoded", "base64", "Base64Payload", []exchange{
			{"POST", receivePath, asJSON, `{"a":1}`, nil, 200},
			{"POST", receivePath + "?q=1&q=2&r", "image/png", "\x00\xff", []string{"X-Many", "1", "X-Many", "2", "Cookie", "secret", "Authorization", "Basic eDp5"}, 200},
		}},
		{"webhook.plain", "raw", "RawPayload", []exchange{
			{"POST", receivePath, asJSON, `{"a":[1,null,1e400]}`, nil, 200},
			{"POST", receivePath, asJSON, `null`, nil, 200},
			{"POST", receivePath, "text/plain", "line\nline", nil, 200},
		}},
		{"webhook.files", "base64", "FilesPayload", []exchange{
			{"POST", receivePath, files, file + file + "--b--\r\n", nil, 200},
			{"POST", receivePath, files, "--b--\r\n", nil, 200},
		}},
		{"webhook.texts", "raw", "FilesPayload", []exchange{
			{"POST", receivePath, files, file + "--b--\r\n", nil, 200},
		}},
		{"webhook.nothing", "ignore", "", []exchange{
			{"POST", receivePath, asJSON, `{"a":1}`, nil, 200},
			{"GET", receivePath + "?q=1", "", "", nil, 200},
		}},
		{"webhook.empty", "base64", "", []exchange{
			{"POST", receivePath, "", "", nil, 200},
			{"GET", receivePath, "", "", nil, 200},
		}},
	} {
		hook := s.put("eventKey="+c.eventKey, "payloadType="+c.payloadType)
		for _, e := range c.calls {
			e.header = append([]string{"token", hook.UUID}, e.header...)
			s.exchange(e)
		}
		kinds[c.eventKey] = c.kind
	}
	return kinds
}

func (a *asyncAPI) wantPayload(r *kgo.Record, kind string) {
	a.t.Helper()
	var message struct{ Payload json.RawMessage }
	if err := json.Unmarshal(r.Value, &message); err != nil {
		a.t.Fatal(err)
	}
	switch {
	case kind == "" && message.Payload != nil:
		a.t.Errorf("payload %s", message.Payload)
	case kind == "":
	case message.Payload == nil:
		a.t.Errorf("no payload in %s", r.Value)
	default:
		if err := a.validate("schemas/"+kind, message.Payload); err != nil {
			a.t.Errorf("payload %s: %v", message.Payload, err)
		}
	}
}

// The schemas find what is wrong with a record.
func TestAsyncAPIRefusesOtherRecords(t *testing.T) {
	s := startOnOne(t)
	a := asyncAPIOf(t, s)
	hook := s.put("eventKey=webhook.demo")
	s.called(hook.UUID, asJSON, `{"a":1}`)
	records := append(s.records("svc.event.webhook.demo"), s.records("svc.call")...)
	if len(records) != 2 {
		t.Fatalf("%d records", len(records))
	}
	for _, r := range records {
		if err := a.check(r); err != nil {
			t.Fatal(err)
		}
		for name, change := range map[string]func(r *kgo.Record, value map[string]any){
			"another key":             func(r *kgo.Record, _ map[string]any) { r.Key = []byte("key") },
			"a header more":           func(r *kgo.Record, _ map[string]any) { r.Headers = append(r.Headers, kgo.RecordHeader{Key: "token"}) },
			"a header less":           func(r *kgo.Record, _ map[string]any) { r.Headers = r.Headers[1:] },
			"a member more":           func(_ *kgo.Record, v map[string]any) { v["token"] = hook.UUID },
			"a member less":           func(_ *kgo.Record, v map[string]any) { delete(v, "received") },
			"another form of time":    func(_ *kgo.Record, v map[string]any) { v["received"] = "2026-03-01 09:30" },
			"another form of key":     func(_ *kgo.Record, v map[string]any) { v["eventKey"] = "orders" },
			"another form of traceId": func(_ *kgo.Record, v map[string]any) { v["traceId"] = "abc:1" },
		} {
			changed := *r
			changed.Headers = slices.Clone(r.Headers)
			var value map[string]any
			if err := json.Unmarshal(r.Value, &value); err != nil {
				t.Fatal(err)
			}
			change(&changed, value)
			changed.Value, _ = json.Marshal(value)
			if a.check(&changed) == nil {
				t.Errorf("%s: %s is not noticed", r.Topic, name)
			}
		}
	}
	event := map[string]any{}
	if err := json.Unmarshal(records[0].Value, &event); err != nil {
		t.Fatal(err)
	}
	for _, header := range []string{"token", "authorization", "Content-Type"} {
		changed := maps.Clone(event)
		changed["headers"] = map[string]string{header: "x"}
		if a.validate("schemas/EventMessage", changed) == nil {
			t.Errorf("the header %s is not noticed", header)
		}
	}
	if a.validate("schemas/Base64Payload", map[string]string{"origin": "no base64"}) == nil {
		t.Error("what is no base64 is not noticed")
	}
}
