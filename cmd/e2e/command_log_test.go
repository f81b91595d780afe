package e2e_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/twmb/franz-go/pkg/kgo"

	"hooklog/domain/access"
	"hooklog/domain/record"
	"hooklog/domain/registry"
)

// What management leaves on the log. Only brokers show it: the window of the
// embedded log hides these topics.
func TestCommandRecords(t *testing.T) {
	s := startOnBrokers(t)
	earliest := s.clock.now().Truncate(time.Millisecond)
	hook := s.put("eventKey=webhook.recorded", "payloadType=raw")

	t.Run("a command's record has name, principal, roles, address, command id and time", func(t *testing.T) {
		c, r := s.in(t).lastCommand()
		if c.Name != "webhook.put" || c.Principal != "admin" || c.Address != "127.0.0.1" ||
			len(c.Roles) != 1 || c.Roles[0] != access.RoleAdministrator {
			t.Errorf("got %+v", c)
		}
		if !isUUID.MatchString(c.ID) || string(r.Key) != c.ID || recordHeader(r, record.HeaderType) != registry.CommandType {
			t.Errorf("id %s, key %s, type %s", c.ID, r.Key, recordHeader(r, record.HeaderType))
		}
		if c.Time.Before(earliest) || c.Time.After(s.clock.now()) || !r.Timestamp.Equal(c.Time) {
			t.Errorf("time %s on a record of %s", c.Time, r.Timestamp)
		}
		var params map[string]any
		if err := json.Unmarshal(c.Params, &params); err != nil {
			t.Fatal(err)
		}
		if params["eventKey"] != "webhook.recorded" || params["last6"] != hook.UUID[30:] || params["maxPayloadLength"] != float64(512000) {
			t.Errorf("the parameters, which carry the defaults, are %v", params)
		}
	})
	t.Run("the command id is a hash of principal, command and Idempotency-Key where one is given", func(t *testing.T) {
		s := s.in(t)
		s.repeat("the-key", "webhook.put", "eventKey=webhook.hashed").want(http.StatusOK)
		c, _ := s.lastCommand()
		sum := sha256.Sum256([]byte("admin\x00webhook.put\x00the-key"))
		if c.ID != hex.EncodeToString(sum[:]) {
			t.Errorf("command id %s", c.ID)
		}
	})
	t.Run("who read tokens with webhook.get is on svc.command, also when there was none", func(t *testing.T) {
		s := s.in(t)
		s.command("webhook.get").want(http.StatusOK)
		if c, _ := s.lastCommand(); c.Name != "webhook.get" || c.Principal != "admin" || len(c.Params) != 0 {
			t.Errorf("got %+v", c)
		}
		s.command("webhook.get", "uuid="+nilUUID).refused(http.StatusNotFound)
		if c, _ := s.lastCommand(); c.Name != "webhook.get" || len(c.Params) == 0 {
			t.Errorf("got %+v", c)
		}
	})
	t.Run("who looked with webhook.list is on svc.access, and not on svc.command", func(t *testing.T) { looks(t, s.in(t)) })
	t.Run("no command that is refused for its form or its caller is on svc.command", func(t *testing.T) {
		s := s.in(t)
		before := len(s.records(record.TopicCommand))
		s.command("webhook.put", "eventKey=wrong").refused(http.StatusBadRequest)
		s.command("webhook.put", "eventKey=webhook.x", "colour=red").refused(http.StatusBadRequest)
		s.send(http.MethodPost, commandPath+"webhook.get", nil, "Authorization", basic("admin", "wrong")).refused(http.StatusUnauthorized)
		if after := len(s.records(record.TopicCommand)); after != before {
			t.Errorf("%d records became %d", before, after)
		}
	})
	t.Run("no token, password or authorization is in the clear on svc.command, svc.access, svc.call and svc.session", func(t *testing.T) {
		secrecy(t, s.in(t), hook)
	})
}

// lastCommand is the newest record of svc.command.
func (s *service) lastCommand() (registry.Command, *kgo.Record) {
	s.t.Helper()
	records := s.records(record.TopicCommand)
	if len(records) == 0 {
		s.t.Fatal("svc.command is empty")
	}
	last := records[len(records)-1]
	var c registry.Command
	if err := json.Unmarshal(last.Value, &c); err != nil {
		s.t.Fatalf("record %s: %v", last.Value, err)
	}
	return c, last
}

func looks(t *testing.T, s *service) {
	commands, before := len(s.records(record.TopicCommand)), len(s.records(record.TopicAccess))
	s.command("webhook.list").want(http.StatusOK)
	s.command("webhook.list", "limit=0").refused(http.StatusBadRequest)
	var records []*kgo.Record
	eventually(t, "both looks are on svc.access", func() bool {
		records = s.records(record.TopicAccess)
		return len(records) == before+2
	})
	outcomes := map[string]bool{}
	for _, r := range records {
		var look access.Look
		if err := json.Unmarshal(r.Value, &look); err != nil {
			t.Fatal(err)
		}
		if look.Name != "webhook.list" || look.Principal != "admin" || look.Address != "127.0.0.1" || string(r.Key) != look.ID {
			t.Errorf("got %+v", look)
		}
		outcomes[look.Outcome] = true
	}
	if !outcomes["ok"] || !outcomes["invalid"] {
		t.Errorf("outcomes %v", outcomes)
	}
	if after := len(s.records(record.TopicCommand)); after != commands {
		t.Errorf("looking grew svc.command from %d to %d", commands, after)
	}
}

// secrecy plants every secret once in each topic: a search that finds no more
// than that is one that could have found more.
func secrecy(t *testing.T, s *service, hook webhook) {
	s.put("uuid="+hook.UUID, "enabled=true")
	s.command("webhook.get", "uuid="+hook.UUID).want(http.StatusOK)
	s.called(hook.UUID, asText, "token in the header, and "+hook.UUID+" in the body")
	s.send(http.MethodGet, hook.WebhookURL, nil, "Authorization", basic("admin", adminPassword)).want(http.StatusOK)
	unknown := uuid.NewString()
	s.command("webhook.delete", "uuid="+unknown).refused(http.StatusNotFound)
	granted := s.passwordGrant("admin", adminPassword).granted()
	s.refresher(granted.Refresh).run("webhook.list").want(http.StatusOK)
	s.rotate(granted.Refresh).granted()

	authorization := basic("admin", adminPassword)
	secrets := []string{
		granted.Access, granted.Refresh, hook.UUID, unknown, strings.ReplaceAll(hook.UUID, "-", ""), base64.StdEncoding.EncodeToString([]byte(hook.UUID)),
		adminPassword, authorization, authorization[len("Basic "):],
	}
	for _, topic := range []string{record.TopicCommand, record.TopicAccess, record.TopicCall, record.TopicSession} {
		if len(s.records(topic)) == 0 {
			t.Fatalf("nothing is on %s", topic)
		}
		for _, secret := range secrets {
			s.produce(&kgo.Record{Topic: topic, Value: []byte("planted: " + secret)})
		}
		records := s.records(topic)
		for i, secret := range secrets {
			want := 1
			if i == len(secrets)-1 {
				want = 2 // it stands in the planted authorization as well
			}
			if got := holding(records, secret); got != want {
				t.Errorf("secret %d stands in %d records of %s, and was planted in %d", i, got, topic, want)
			}
		}
	}
}

// holding counts the records that hold the text in key, header or value.
func holding(records []*kgo.Record, text string) (n int) {
	for _, r := range records {
		whole := string(r.Key) + "\n" + string(r.Value)
		for _, h := range r.Headers {
			whole += "\n" + h.Key + ": " + string(h.Value)
		}
		if strings.Contains(whole, text) {
			n++
		}
	}
	return n
}
