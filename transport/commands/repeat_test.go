package commands_test

import (
	"testing"

	"hooklog/domain/fault"
)

func TestARepeatShowsNoListToWhoHasLostTheRight(t *testing.T) {
	for _, name := range []string{"user.get", "client.get", "policy.get"} {
		t.Run(name, func(t *testing.T) {
			r := startRealm(t)
			r.text("", "policy.put", "name=office", "roles=clerk", "commands="+name)
			req := request(t, name, []string{"clerk"})
			req.IdempotencyKey = "k"
			r.run(req)
			r.run(req) // while the right lasts, so does the answer
			r.text("", "policy.delete", "name=office")
			if answer, err := r.d.Run(t.Context(), req); !fault.Is(err, fault.Forbidden) {
				t.Errorf("got %v, %v", answer, err)
			}
		})
	}
}
