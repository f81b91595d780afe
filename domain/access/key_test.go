package access_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hooklog/domain/access"
	"hooklog/domain/fault"
	"hooklog/domain/secret"
)

var bySealedText = cmp.Comparer(func(a, b secret.Sealed) bool { return a.Reveal() == b.Reveal() })

func signingKey(id string) access.SigningKey {
	return access.SigningKey{
		ID: id, Algorithm: access.KeyAlgorithm, Public: json.RawMessage(`{"kty":"EC"}`),
		Sealed: secret.NewSealed("sealed"), SealedFor: "c",
	}
}

func TestRotatingKeys(t *testing.T) {
	var keys access.SigningKeys
	var err error
	for n := range 8 {
		if keys, err = keys.Rotate(signingKey(fmt.Sprint(n)), monday.AddDate(0, 0, n)); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for _, k := range keys {
		got = append(got, k.ID+" of "+k.Created.Format("Mon"))
	}
	want := []string{"7 of Mon", "6 of Sun", "5 of Sat", "4 of Fri", "3 of Thu"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the newest signs and four stay (-want +got):\n%s", diff)
	}
	t.Run("a key that may still be needed is not dropped", func(t *testing.T) {
		keys := keys
		now := monday.AddDate(0, 0, 8)
		for n := range 4 {
			if keys, err = keys.Rotate(signingKey(fmt.Sprint("new", n)), now); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := keys.Rotate(signingKey("hasty"), now.Add(59*time.Minute)); !fault.Is(err, fault.Conflict) {
			t.Errorf("err = %v, want a conflict", err)
		}
		if _, err := keys.Rotate(signingKey("patient"), now.Add(time.Hour)); err != nil {
			t.Errorf("refused: %v", err)
		}
	})
	t.Run("the same key comes only once", func(t *testing.T) {
		if _, err := keys.Rotate(signingKey("5"), monday.AddDate(0, 1, 0)); !fault.Is(err, fault.Conflict) {
			t.Errorf("err = %v, want a conflict", err)
		}
	})
	for name, spoil := range map[string]func(*access.SigningKey){
		"an id":            func(k *access.SigningKey) { k.ID = "" },
		"the algorithm":    func(k *access.SigningKey) { k.Algorithm = "RS256" },
		"the public half":  func(k *access.SigningKey) { k.Public = json.RawMessage("null") },
		"the private half": func(k *access.SigningKey) { k.Sealed = secret.Sealed{} },
		"what it is bound": func(k *access.SigningKey) { k.SealedFor = "" },
	} {
		t.Run("a key without "+name+" is refused", func(t *testing.T) {
			k := signingKey("x")
			spoil(&k)
			if _, err := (access.SigningKeys{}).Rotate(k, monday); !fault.Is(err, fault.Invalid) {
				t.Errorf("err = %v, want invalid", err)
			}
		})
	}
}

func TestAShownKeyHasNoPrivateHalf(t *testing.T) {
	text, err := json.Marshal(signingKey("x").Shown())
	if err != nil || strings.Contains(string(text), "sealed") || !strings.Contains(string(text), `"kty":"EC"`) {
		t.Errorf("shown %s, %v", text, err)
	}
}

// The golden files are parts of records and rows as they lie on logs that exist.
func TestWireFormsStayForEver(t *testing.T) {
	key := signingKey("k1")
	key.Created = monday
	trail := access.Trail{Created: monday, CreatedBy: "kim", Updated: monday.Add(time.Hour), UpdatedBy: "pat"}
	golden(t, "signing_key.json", key)
	golden(t, "user.json", access.User{Name: "ann", PasswordHash: hash, Roles: []string{"reader"}, Version: 2, Trail: trail})
	golden(t, "user_deleted.json", access.User{Name: "ann", Roles: []string{}, Version: 3, Deleted: true, Trail: trail})
	golden(t, "client.json", access.Client{ID: "shop", SecretHash: access.SecretHash(secret.NewPassword("one")), Version: 1, Trail: trail})
	golden(t, "rule.json", access.Rule{
		Name: "orders", Users: []string{"ann", "corp:7f3a"}, Roles: []string{"reader"}, Commands: []string{"webhook.*"},
		Keys: []string{"webhook.orders.*"}, RunAs: []string{"batch"}, Version: 2, Trail: trail,
	})
	golden(t, "user_put.json", access.UserPut{Name: "ann", PasswordHash: hash, Roles: []string{}})
	golden(t, "user_put_less.json", access.UserPut{Name: "ann"})
	golden(t, "client_put.json", access.ClientPut{ID: "shop", Public: new(false), NewSecret: true, SecretHash: "5f0c"})
	golden(t, "named.json", access.Named{Name: "ann"})
}

func golden[T any](t *testing.T, file string, value T) {
	t.Helper()
	want, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.TrimSuffix(string(want), "\n"), string(got)); diff != "" {
		t.Errorf("%s differs (-want +got):\n%s", file, diff)
	}
	var read T
	if err := json.Unmarshal(want, &read); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(value, read, bySealedText); diff != "" {
		t.Errorf("%s is read as another (-want +got):\n%s", file, diff)
	}
}
