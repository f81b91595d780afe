package proof_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"hooklog/domain/proof"
	"hooklog/domain/secret"
)

func key() proof.Key {
	return proof.Key{
		Origin: "hooklog-0a1b2c3d", Public: "hooklog-0a1b2c3d+9f8e7d6c+AQ==",
		Sealed: secret.NewSealed("v1.sealed"), SealedFor: "c1", Created: time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC),
	}
}

func TestAKeyOnTheLogStaysForEver(t *testing.T) {
	const want = `{"origin":"hooklog-0a1b2c3d","public":"hooklog-0a1b2c3d+9f8e7d6c+AQ==","sealed":"v1.sealed","sealedFor":"c1","created":"2026-03-02T08:00:00Z"}`
	text, err := json.Marshal(key())
	if err != nil || string(text) != want {
		t.Errorf("written as %s: %v", text, err)
	}
	var back proof.Key
	if err := json.Unmarshal([]byte(want), &back); err != nil || back.Origin != key().Origin || back.Public != key().Public || back.Sealed.Reveal() != "v1.sealed" || back.SealedFor != "c1" || !back.Created.Equal(key().Created) {
		t.Errorf("read back as %+v: %v", back, err)
	}
	if printed := fmt.Sprintf("%v %+v", back, back); strings.Contains(printed, "v1.sealed") {
		t.Errorf("the private half is printed: %s", printed)
	}
}

func TestAKeyIsComplete(t *testing.T) {
	if err := key().Check(); err != nil {
		t.Errorf("a whole key: %v", err)
	}
	for name, spoil := range map[string]func(*proof.Key){
		"without an origin":          func(k *proof.Key) { k.Origin = "" },
		"with an origin of words":    func(k *proof.Key) { k.Origin, k.Public = "a b", "a b+" },
		"with another's public half": func(k *proof.Key) { k.Public = "other+1+AA==" },
		"without a private half":     func(k *proof.Key) { k.Sealed = secret.Sealed{} },
		"bound to no command":        func(k *proof.Key) { k.SealedFor = "" },
	} {
		t.Run(name, func(t *testing.T) {
			k := key()
			spoil(&k)
			if k.Check() == nil {
				t.Errorf("%+v was taken", k)
			}
		})
	}
}
