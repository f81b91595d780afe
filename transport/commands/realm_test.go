package commands_test

import (
	"crypto/ecdsa"
	"crypto/x509"
	"slices"
	"strings"
	"testing"

	"github.com/go-jose/go-jose/v4"
	"github.com/google/go-cmp/cmp"

	"hooklog/domain/access"
	"hooklog/domain/catalog"
	"hooklog/domain/fault"
	"hooklog/domain/registry"
	"hooklog/domain/secret"
	"hooklog/transport/commands"
)

func TestUsers(t *testing.T) {
	r := startRealm(t)
	made := into[commands.User](t, r.text("", "user.put", "username=ann", "password=correct horse", "roles=reader,writer"))
	if made.Username != "ann" || made.Version != 1 || made.CreatedBy != "ann" || !slices.Equal(made.Roles, []string{"reader", "writer"}) {
		t.Errorf("made %+v", made)
	}
	stored := r.state.users["ann"]
	if want, _ := hash(secret.NewPassword("correct horse")); stored.PasswordHash != want {
		t.Errorf("the log has the hash %s", stored.PasswordHash)
	}
	if changed := into[commands.User](t, r.text("", "user.put", "username=ann", "roles=")); changed.Version != 2 || changed.Roles == nil || len(changed.Roles) != 0 || r.state.users["ann"].PasswordHash != stored.PasswordHash {
		t.Errorf("changed to %+v", changed)
	}
	if got := into[commands.User](t, r.text("", "user.get", "username=ann")); got.Version != 2 {
		t.Errorf("got %+v", got)
	}
	if all := into[commands.Page[commands.User]](t, r.text("", "user.get")); len(all.Items) != 3 {
		t.Errorf("got %+v", all)
	}
	if gone := into[commands.User](t, r.text("", "user.delete", "username=ann")); gone.Username != "ann" || gone.Version != 2 {
		t.Errorf("deleted %+v", gone)
	}
	r.refused(fault.NotFound, "", "user.get", "username=ann")
	r.refused(fault.Conflict, "", "user.delete", "username=admin")
}

func TestAPasswordIsAPartOfTheRequest(t *testing.T) {
	r := startRealm(t)
	first := r.text("k", "user.put", "username=ann", "password=correct horse")
	if again := r.text("k", "user.put", "username=ann", "password=correct horse"); again != first {
		t.Errorf("a repeat answers %s after %s", again, first)
	}
	r.refused(fault.Conflict, "k", "user.put", "username=ann", "password=another horse")
	if u := r.state.users["ann"]; u.Version != 1 {
		t.Errorf("the user is %+v", u)
	}
}

func TestBadNamesPasswordsAndRulesAreNotAppended(t *testing.T) {
	r := startRealm(t)
	for _, bad := range [][]string{
		{"user.put", "username=ann", "password=short77"},
		{"user.put", "username=ann", "password="},
		{"user.put", "username=ann", "password=" + strings.Repeat("p", 1025)},
		{"user.put", "username=a:b", "password=long enough"},
		{"user.put", "username=ann", "password=long enough", "roles=a\x00b"},
		{"user.get", "username="},
		{"user.delete", "username=a b"},
		{"client.put", "id=a b"},
		{"client.get", "id=a b"},
		{"policy.put", "name=a", "commands=webhook.*"},
		{"policy.put", "name=a", "users=ann", "commands=web*"},
		{"policy.delete", "name="},
	} {
		detail := r.refused(fault.Invalid, "", bad[0], bad[1:]...)
		if strings.Contains(detail, "short77") || strings.Contains(detail, "ppp") {
			t.Errorf("%s shows the password: %s", bad[0], detail)
		}
	}
	if len(r.appended) != 0 {
		t.Errorf("%d records were appended", len(r.appended))
	}
}

func TestAClientsSecretIsShownOnce(t *testing.T) {
	r := startRealm(t)
	secretOf := func(text string) string {
		c := into[commands.Client](t, text)
		if c.Secret != "" && access.SecretHash(secret.NewPassword(c.Secret)) != r.state.clients["shop"].SecretHash {
			t.Errorf("the secret of %s is not the client's", text)
		}
		return c.Secret
	}
	first := secretOf(r.text("k", "client.put", "id=shop"))
	if len(first) != 43 {
		t.Errorf("the secret has %d characters, want 256 bits", len(first))
	}
	for _, tt := range []struct{ what, answer string }{
		{"a repeat", r.text("k", "client.put", "id=shop")},
		{"a put that changes nothing", r.text("", "client.put", "id=shop")},
		{"a get", r.text("", "client.get", "id=shop")},
		{"a get of all", r.text("", "client.get")},
	} {
		if strings.Contains(tt.answer, `"secret"`) || strings.Contains(tt.answer, first) {
			t.Errorf("%s shows the secret", tt.what)
		}
	}
	second := secretOf(r.text("n", "client.put", "id=shop", "newSecret=true"))
	if second == "" || second == first {
		t.Error("a new secret was asked for, and there is none")
	}
	if again := secretOf(r.text("n", "client.put", "id=shop", "newSecret=true")); again != "" {
		t.Error("a repeat shows a secret")
	}
	if c := into[commands.Client](t, r.text("", "client.put", "id=shop", "public=true")); !c.Public || c.Secret != "" || r.state.clients["shop"].SecretHash != "" {
		t.Errorf("a public client is %+v", c)
	}
	r.refused(fault.Invalid, "", "client.put", "id=shop", "newSecret=true")
	r.refused(fault.Conflict, "", "client.delete", "id=hooklog")
	r.text("", "client.delete", "id=shop")
}

func TestThePolicyOverItsCommands(t *testing.T) {
	r := startRealm(t)
	r.text("", "webhook.put", "eventKey=webhook.orders.a")
	r.text("", "webhook.put", "eventKey=webhook.stock")
	rule := into[commands.Rule](t, r.text("", "policy.put", "name=orders", "roles=reader", "commands=webhook.get", "keys=webhook.orders.*"))
	want := commands.Rule{Name: "orders", Users: []string{}, Roles: []string{"reader"}, Commands: []string{"webhook.get"}, Keys: []string{"webhook.orders.*"}, RunAs: []string{}, Version: 1, Trail: rule.Trail}
	if diff := cmp.Diff(want, rule); diff != "" || rule.CreatedBy != "ann" {
		t.Errorf("rule (-want +got):\n%s", diff)
	}
	if all := into[commands.Page[commands.Rule]](t, r.text("", "policy.get")); len(all.Items) != 2 || all.Items[0].Name != "anonymous" {
		t.Errorf("rules %+v", all)
	}
	get := request(t, "webhook.get", []string{"reader"})
	if hooks := into[[]commands.Webhook](t, r.run(get)); len(hooks) != 1 || hooks[0].EventKey != "webhook.orders.a" {
		t.Errorf("a reader reads %+v", hooks)
	}
	r.text("", "policy.delete", "name=orders")
	if _, err := r.d.Run(t.Context(), get); !fault.Is(err, fault.Forbidden) {
		t.Errorf("without the rule: %v", err)
	}
	r.refused(fault.NotFound, "", "policy.get", "name=orders")
}

func TestARotatedKeySignsForWhoeverHasTheRing(t *testing.T) {
	r := startRealm(t)
	shown := into[commands.SigningKey](t, r.text("k", "key.rotate"))
	if again := into[commands.SigningKey](t, r.text("k", "key.rotate")); again.ID != shown.ID || len(r.state.keys) != 1 {
		t.Errorf("a repeat made another key: %+v", r.state.keys)
	}
	key := r.state.keys[0]
	plain, err := r.ring.Open(commands.SigningKeyField, key.SealedFor, key.Sealed)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.ParsePKCS8PrivateKey(plain)
	if err != nil {
		t.Fatal(err)
	}
	var public jose.JSONWebKey
	if err := public.UnmarshalJSON(shown.Public); err != nil {
		t.Fatal(err)
	}
	if !public.IsPublic() || public.KeyID != shown.ID || public.Algorithm != "ES256" || shown.Algorithm != "ES256" ||
		!private.(*ecdsa.PrivateKey).PublicKey.Equal(public.Key) {
		t.Errorf("the public half is %s", shown.Public)
	}
}

func TestARecordSaysWhoAndForWhom(t *testing.T) {
	r := startRealm(t)
	req := request(t, "user.get", administrator)
	req.Caller = commands.Caller{Principal: "corp:7f3a", Name: "Kim", Effective: "batch", Roles: administrator, Client: "shop", Address: "192.0.2.7"}
	r.run(req)
	got, err := registry.DecodeCommand(&r.appended[0])
	if err != nil || got.Principal != "corp:7f3a" || got.PrincipalName != "Kim" || got.Effective != "batch" || got.Client != "shop" || got.Address != "192.0.2.7" {
		t.Errorf("recorded %+v, %v", got, err)
	}
	r.text("", "user.get")
	if got, err := registry.DecodeCommand(&r.appended[1]); err != nil || got.Effective != "ann" || got.PrincipalName != "" {
		t.Errorf("recorded %+v, %v", got, err)
	}
}

// Every answer, fault and record is searched for what was planted.
func TestNoSecretIsShownButInItsAnswer(t *testing.T) {
	r := startRealm(t)
	const canary = "canary password"
	hashed, _ := hash(secret.NewPassword(canary))
	made := r.text("", "client.put", "id=shop")
	clientSecret := into[commands.Client](t, made).Secret
	if clientSecret == "" || !strings.Contains(made, clientSecret) {
		t.Fatal("the search would find nothing")
	}
	shown := []string{
		r.text("u", "user.put", "username=ann", "password="+canary),
		r.text("u", "user.put", "username=ann", "password="+canary),
		r.refused(fault.Conflict, "u", "user.put", "username=bob", "password="+canary),
		r.refused(fault.Conflict, "", "user.put", "username=anonymousUser", "password="+canary),
		r.refused(fault.Conflict, "", "user.put", "username=admin", "password="+canary, "roles=reader"),
		r.text("", "user.get"), r.text("", "user.get", "username=ann"), r.text("", "user.delete", "username=ann"),
		r.text("", "client.get"), r.text("", "client.put", "id=shop"), r.text("", "client.delete", "id=shop"),
		r.text("", "key.rotate"),
	}
	for _, rec := range r.appended {
		shown = append(shown, strings.ReplaceAll(string(rec.Value), hashed, "the hash, which has its place here"))
	}
	sealed := r.state.keys[0].Sealed.Reveal()
	for i, text := range shown {
		for _, hidden := range []string{canary, hashed, clientSecret} {
			if strings.Contains(text, hidden) {
				t.Errorf("%q stands in %d: %s", hidden, i, text)
			}
		}
		if i < 12 && (strings.Contains(text, sealed) || strings.Contains(text, access.SecretHash(secret.NewPassword(clientSecret)))) {
			t.Errorf("a key or a secret's hash is answered: %s", text)
		}
	}
}

func TestEveryCommandOfTheCatalogIsRun(t *testing.T) {
	params := map[string][]string{
		"webhook.put":    {"eventKey=webhook.a"},
		"webhook.delete": {"uuid=5eedc0de-1234-4abc-8def-012345678901"},
		"user.put":       {"username=ann", "password=long enough"},
		"user.delete":    {"username=ann"},
		"client.put":     {"id=shop"},
		"client.delete":  {"id=shop"},
		"policy.put":     {"name=all", "users=ann", "commands=*"},
		"policy.delete":  {"name=all"},

		"pipeline.put":    {"name=orders", "body=pipeline: [log]"},
		"pipeline.delete": {"name=orders"},
		"pipeline.run":    {"name=orders"},
		"run.retry":       {"correlationId=7c9e6679-7425-40de-944b-e07fc1f90ae7"},

		"event.get":  {"correlationId=7c9e6679-7425-40de-944b-e07fc1f90ae7"},
		"event.tail": {"eventKey=webhook.a"},
	}
	r := startRealm(t)
	r.d.Traces = newTraces(t)
	for _, c := range catalog.All() {
		if c.Kind == catalog.Receive {
			continue
		}
		_, err := r.d.Run(t.Context(), request(t, c.Name, administrator, params[c.Name]...))
		if err != nil && strings.Contains(err.Error(), "There is no command") {
			t.Error(err)
		}
	}
}
