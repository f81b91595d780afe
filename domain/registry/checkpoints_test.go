package registry_test

import (
	"testing"

	"hooklog/domain/proof"
	"hooklog/domain/registry"
	"hooklog/domain/secret"
)

func checkpointKey(origin string) proof.Key {
	return proof.Key{Origin: origin, Public: origin + "+00000000+AAAA", Sealed: secret.NewSealed("sealed"), SealedFor: "k"}
}

func initCheckpoints(id string, key proof.Key) registry.Command {
	return bySystem(command(id, registry.CheckpointInit, key))
}

func TestTheFirstKeyOfTheCheckpointsCounts(t *testing.T) {
	m := folded(initialise("i", "check"))
	if _, made := m.CheckpointKey(); made {
		t.Fatal("there is a key before one was brought")
	}
	incomplete := checkpointKey("hooklog-1")
	incomplete.Sealed = secret.Sealed{}
	steps := []struct {
		name  string
		when  registry.Command
		fails string
		left  string
	}{
		{"one that is incomplete is refused", initCheckpoints("a", incomplete), "invalid", ""},
		{"no caller brings one", command("b", registry.CheckpointInit, checkpointKey("hooklog-2")), "forbidden", ""},
		{"the first is taken", initCheckpoints("c", checkpointKey("hooklog-3")), "", "hooklog-3"},
		{"a second is a conflict", initCheckpoints("d", checkpointKey("hooklog-4")), "conflict", "hooklog-3"},
	}
	for _, step := range steps {
		t.Run(step.name, func(t *testing.T) {
			outcome := registry.Fold(m, step.when)
			key, _ := m.CheckpointKey()
			if outcome.Fault != step.fails || key.Origin != step.left {
				t.Errorf("fault %q (%s), want %q; the key is %q, want %q", outcome.Fault, outcome.Detail, step.fails, key.Origin, step.left)
			}
		})
	}
	if key, _ := m.CheckpointKey(); !key.Created.Equal(monday) {
		t.Errorf("created %s", key.Created)
	}
}

func TestACheckpointIsPutByWhoMay(t *testing.T) {
	m := folded(initialise("i", "check"))
	for id, tt := range map[string]struct {
		when  registry.Command
		fails string
	}{
		"administrator": {command("a", "checkpoint.put", nil), ""},
		"anybody else":  {by(command("b", "checkpoint.put", nil), "ann"), "forbidden"},
	} {
		t.Run(id, func(t *testing.T) {
			if outcome := registry.Fold(m, tt.when); outcome.Fault != tt.fails {
				t.Errorf("fault %q, want %q", outcome.Fault, tt.fails)
			}
		})
	}
}
