package audit_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hooklog/domain/access"
	"hooklog/domain/audit"
	"hooklog/domain/pipeline"
	"hooklog/domain/record"
	"hooklog/domain/registry"
	"hooklog/domain/secret"
	"hooklog/domain/webhook"
)

var (
	monday = time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)
	where  = record.Position{Topic: record.TopicCommand, Offset: 7}
)

// What must not stand in any entry.
const (
	sealed = "a-sealed-secret"
	hash   = "$argon2id$a-secret-hash"
)

func hook(key string, version int) webhook.Webhook {
	token, err := secret.ParseToken("5eedc0de-1234-4abc-8def-012345678901")
	if err != nil {
		panic(err)
	}
	return webhook.Webhook{
		Token:    webhook.TokenRef{Hash: token.Hash(), Last6: token.Last6(), Sealed: secret.NewSealed(sealed), SealedFor: "c"},
		EventKey: key, PayloadType: webhook.Raw, MaxPayloadLength: 9, Enabled: true, Version: version,
		Created: monday, CreatedBy: "kim", Updated: monday, UpdatedBy: "kim",
	}
}

// text is the entry of a decision as an auditor sees it, with the name of the
// command and the rest of what every entry has left out.
func text(t *testing.T, name string, params any, d registry.Decision) string {
	t.Helper()
	encoded, err := json.Marshal(params)
	if err != nil {
		t.Fatal(err)
	}
	d.Command = registry.Command{ID: "x", Name: name, Params: encoded, Principal: "kim", Effective: "kim", Time: monday}
	entry, err := audit.OfDecision(where, d)
	if err != nil {
		t.Fatal(err)
	}
	shown, err := json.Marshal(entry)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{sealed, hash, hook("", 1).Token.Hash.String()} {
		if strings.Contains(string(shown), secret) {
			t.Errorf("%s stands in %s", secret, shown)
		}
	}
	begin := `{"time":"2026-03-02T08:00:00Z","topic":"svc.command","partition":0,"offset":7,"id":"x","command":"` + name + `","principal":"kim","effective":"kim",`
	rest, ok := strings.CutPrefix(string(shown), begin)
	if !ok {
		t.Errorf("%s does not begin with %s", shown, begin)
	}
	return "{" + rest
}

func TestTheEntryOfACommand(t *testing.T) {
	a, b := hook("webhook.a", 1), hook("webhook.b", 2)
	trail := access.Trail{Created: monday, CreatedBy: "kim", Updated: monday, UpdatedBy: "kim"}
	const by = `"created":"2026-03-02T08:00:00Z","createdBy":"kim","updated":"2026-03-02T08:00:00Z","updatedBy":"kim"`
	const stateA = `{"eventKey":"webhook.a","last6":"678901","payloadType":"raw","maxPayloadLength":9,"enabled":true,"version":1,` + by + `}`
	const stateB = `{"eventKey":"webhook.b","last6":"678901","payloadType":"raw","maxPayloadLength":9,"enabled":true,"version":2,` + by + `}`
	ann := access.User{Name: "ann", PasswordHash: hash, Roles: []string{"reader"}, Version: 1, Trail: trail}
	renewed := ann
	renewed.PasswordHash, renewed.Version = hash+"2", 2
	shop := access.Client{ID: "shop", SecretHash: hash, Version: 1, Trail: trail}
	key := access.SigningKey{ID: "k", Algorithm: "ES256", Public: json.RawMessage(`{}`), Sealed: secret.NewSealed(sealed), SealedFor: "c", Created: monday}
	line := pipeline.Pipeline{
		Name: "orders", Version: 1, Source: pipeline.Source{Body: secret.NewSealed(sealed), SealedFor: "c", EventKeys: []string{"webhook.#"}, RunAs: []string{"batch"}},
		Created: monday, CreatedBy: "kim", Updated: monday, UpdatedBy: "kim",
	}
	forbidden := registry.Outcome{Fault: "forbidden", Detail: "No."}
	tests := []struct {
		name, command string
		params        any
		decision      registry.Decision
		want          string
	}{
		{
			"a creation", "webhook.put",
			webhook.Put{Token: a.Token, EventKey: &a.EventKey},
			registry.Decision{Outcome: registry.Outcome{Webhook: &a}, Change: registry.Change{After: a}},
			`{"outcome":"ok","eventKey":"webhook.a","last6":"678901","keys":["webhook.a"],"after":` + stateA + `}`,
		},
		{
			"an edit that moves it", "webhook.put",
			webhook.Put{Token: a.Token, EventKey: &b.EventKey},
			registry.Decision{Outcome: registry.Outcome{Webhook: &b}, Named: &a, Change: registry.Change{Before: a, After: b}},
			`{"outcome":"ok","eventKey":"webhook.b","last6":"678901","keys":["webhook.a","webhook.b"],"before":` + stateA + `,"after":` + stateB + `}`,
		},
		{
			"a refused edit", "webhook.put",
			webhook.Put{Token: a.Token, EventKey: &b.EventKey},
			registry.Decision{Outcome: forbidden, Named: &a},
			`{"outcome":"forbidden","detail":"No.","eventKey":"webhook.a","last6":"678901","keys":["webhook.a","webhook.b"]}`,
		},
		{
			"a deletion of what is unknown", "webhook.delete", a.Token,
			registry.Decision{Outcome: registry.Outcome{Fault: "not-found", Detail: "No."}},
			`{"outcome":"not-found","detail":"No.","last6":"678901"}`,
		},
		{
			"a repeat", "webhook.get", a.Token,
			registry.Decision{Outcome: registry.Outcome{Webhook: &a}, Named: &a, Repeated: true},
			`{"outcome":"ok","repeat":true,"eventKey":"webhook.a","last6":"678901","keys":["webhook.a"]}`,
		},
		{
			"a new password", "user.put",
			access.UserPut{Name: "ann", PasswordHash: hash},
			registry.Decision{Change: registry.Change{Before: ann, After: renewed}},
			`{"outcome":"ok","user":"ann","before":{"username":"ann","roles":["reader"],"version":1,` + by + `},"after":{"username":"ann","roles":["reader"],"newPassword":true,"version":2,` + by + `}}`,
		},
		{
			"the end of a user", "user.delete",
			access.Named{Name: "ann"},
			registry.Decision{Change: registry.Change{Before: ann}},
			`{"outcome":"ok","user":"ann","before":{"username":"ann","roles":["reader"],"version":1,` + by + `}}`,
		},
		{
			"a client", "client.put",
			access.ClientPut{ID: "shop", SecretHash: hash},
			registry.Decision{Change: registry.Change{After: shop}},
			`{"outcome":"ok","clientId":"shop","after":{"id":"shop","public":false,"newSecret":true,"version":1,` + by + `}}`,
		},
		{
			"a rule", "policy.put",
			access.Rule{Name: "r"},
			registry.Decision{Change: registry.Change{After: access.Rule{Name: "r", Users: []string{"ann"}, Version: 1}}},
			`{"outcome":"ok","rule":"r","after":{"name":"r","users":["ann"],"version":1}}`,
		},
		{
			"a signing key", "key.rotate", key,
			registry.Decision{Change: registry.Change{After: key}},
			`{"outcome":"ok","signingKey":"k","after":{"id":"k","algorithm":"ES256","created":"2026-03-02T08:00:00Z"}}`,
		},
		{
			"a pipeline", "pipeline.put",
			pipeline.Put{Name: "orders", Source: line.Source},
			registry.Decision{Change: registry.Change{After: line}},
			`{"outcome":"ok","pipeline":"orders","keys":["orders"],"after":{"name":"orders","eventKeys":["webhook.#"],"runAs":["batch"],"version":1,` + by + `}}`,
		},
		{
			"a retry of two", "run.retry",
			registry.RetryParams{CorrelationID: "c", Pipelines: []string{"stock", "orders"}},
			registry.Decision{},
			`{"outcome":"ok","keys":["orders","stock"]}`,
		},
		{
			"a reset", registry.AdminReset,
			registry.ResetParams{PasswordHash: hash},
			registry.Decision{Change: registry.Change{Before: ann, After: renewed}},
			`{"outcome":"ok","user":"admin","before":{"username":"ann","roles":["reader"],"version":1,` + by + `},"after":{"username":"ann","roles":["reader"],"newPassword":true,"version":2,` + by + `}}`,
		},
		{"what an operator accepted", registry.LogAccept, registry.AcceptParams{Reason: "?"}, registry.Decision{}, `{"outcome":"ok"}`},
		{"parameters that cannot be read", "webhook.put", []string{"?"}, registry.Decision{Outcome: registry.Outcome{Fault: "invalid", Detail: "?"}}, `{"outcome":"invalid","detail":"?"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, text(t, tt.command, tt.params, tt.decision)); diff != "" {
				t.Errorf("entry (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTheEntryOfAPipelinesCommandNamesAllWhoStandBehindIt(t *testing.T) {
	who := audit.Who{
		Principal: "anonymousUser", PrincipalName: "Nobody", Effective: "batch", Roles: []string{"r"}, Client: "hooklog", Address: "192.0.2.7",
		Owner: "kim", Via: "orders@3", Call: "7c9e6679-7425-40de-944b-e07fc1f90ae7",
	}
	entry, err := audit.OfDecision(where, registry.Decision{Command: registry.Command{
		ID: "x", Name: "webhook.get", Time: monday, Principal: who.Principal, PrincipalName: who.PrincipalName, Effective: who.Effective,
		Roles: who.Roles, Client: who.Client, Address: who.Address, Owner: who.Owner, Via: who.Via, Call: who.Call,
	}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(who, entry.Who); diff != "" {
		t.Errorf("who (-want +got):\n%s", diff)
	}
	if entry.Position() != where {
		t.Errorf("position %s", entry.Position())
	}
}

func TestTheEntryOfAnAccess(t *testing.T) {
	at := record.Position{Topic: record.TopicAccess, Partition: 2, Offset: 7}
	failures := access.Failures{Instance: "i", From: monday.Add(-time.Minute), To: monday, Rest: map[string]int64{"too-many": 1}}
	begin := audit.Entry{Time: monday, Topic: at.Topic, Partition: 2, Offset: 7, Outcome: audit.OK}
	look, login, failed, invalid := begin, begin, begin, begin
	look.ID, look.Command, look.Outcome, look.Params = "l", "trace.get", "not-found", map[string]any{"limit": 1}
	look.Who = audit.Who{Principal: "kim", Effective: "kim", Address: "192.0.2.7"}
	look.About = audit.About{EventKey: "webhook.a", Last6: "678901", Keys: []string{"webhook.a"}}
	login.ID, login.Command, login.Params = "g", audit.Login, map[string]any{"grant": "password", "scope": "profile"}
	login.Who = audit.Who{Principal: "kim", Effective: "kim", Client: "shop", Address: "192.0.2.7"}
	login.User = "kim"
	failed.Command, failed.Outcome, failed.Failures = audit.Login, "unauthenticated", &failures
	invalid.Outcome, invalid.Detail = "invalid", "The record cannot be read."
	for name, tt := range map[string]struct{ want, got audit.Entry }{
		"a look": {look, audit.OfAccess(at, access.Look{
			ID: "l", Name: "trace.get", Principal: "kim", Address: "192.0.2.7", EventKey: "webhook.a", Last6: "678901",
			Params: map[string]any{"limit": 1}, Outcome: "not-found", Time: monday,
		})},
		"a log-in": {login, audit.OfAccess(at, access.Login{
			ID: "g", Principal: "kim", Client: "shop", Grant: "password", Scope: "profile", Address: "192.0.2.7", Time: monday,
		})},
		"log-ins that failed":           {failed, audit.OfAccess(at, failures)},
		"a record that is none of ours": {invalid, audit.OfInvalid(&record.Record{Position: at, Time: monday, Value: []byte(sealed)})},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, tt.got); diff != "" {
				t.Errorf("entry (-want +got):\n%s", diff)
			}
		})
	}
}
