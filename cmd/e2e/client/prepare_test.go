package client_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"testing"
)

// ordersPipeline fails for a call without an order.
const ordersPipeline = `pipeline:
  - event.listen: {eventKey: webhook.orders}
  - convert.fromBase64: {value: "${body.payload.origin}"}
  - convert.fromJson
body: ${body.order}
`

const greetPipeline = "pipeline:\n  - set: {value: \"Hello ${body.name}\"}\n"

// world is what examples may speak of.
type world struct {
	uuid          string // of webhook.orders
	correlationID string // of a call of it that failed
	receipt       string // of that call
	publicKey     string // that proves it
}

// prepare makes the things that tests and examples name, whatever was made or
// deleted before.
func (s *service) prepare() world {
	s.t.Helper()
	var all []struct{ EventKey, UUID string }
	s.admin("webhook.get", nil).into(&all)
	for _, w := range all {
		s.admin("webhook.delete", url.Values{"uuid": {w.UUID}})
	}
	s.admin("pipeline.put", url.Values{"name": {"orders"}, "body": {ordersPipeline}})
	s.admin("pipeline.put", url.Values{"name": {"greet"}, "body": {greetPipeline}})
	s.admin("user.put", url.Values{"username": {"alice"}, "password": {adminPassword}, "roles": {"shop"}})
	s.admin("client.put", url.Values{"id": {"shop-app"}, "public": {"true"}})
	s.admin("policy.put", url.Values{"name": {"shop"}, "roles": {"shop"}, "commands": {"webhook.*"}, "keys": {"webhook.shop.*"}})
	s.admin("webhook.put", url.Values{"eventKey": {"webhook.quiet"}})
	w := world{uuid: s.admin("webhook.put", url.Values{"eventKey": {"webhook.orders"}}).text("uuid")}
	w.correlationID = s.call(w.uuid, `{}`).text("correlationId")
	s.finished(w.correlationID)
	w.publicKey = s.admin("checkpoint.put", nil).text("publicKey")
	var found struct {
		Items []struct{ Receipt json.RawMessage }
	}
	s.admin("trace.get", url.Values{"correlationId": {w.correlationID}, "receipt": {"true"}}).into(&found)
	w.receipt = string(found.Items[0].Receipt)
	return w
}

// finished waits until a call has its result.
func (s *service) finished(correlationID string) answer {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet,
		s.url+"/api/v3/result?pollingRedirectEnabled=true&svc-result-correlationid="+correlationID, http.NoBody)
	if err != nil {
		s.t.Fatal(err)
	}
	return s.send(req)
}

func TestTheWorldOfTheExamples(t *testing.T) {
	s := start(t)
	w := s.prepare()
	if status := s.finished(w.correlationID).text("status"); status != "error" {
		t.Errorf("the call that should fail is %s", status)
	}
	if value := s.finished(s.call(w.uuid, `{"order":7}`).text("correlationId")).text("value"); value != "7" {
		t.Errorf("a call with an order gave %s", value)
	}
}
