package commands_test

import (
	"bytes"
	"testing"

	"hooklog/domain/fault"
	"hooklog/domain/registry"
)

func TestWhenAWebhookIsAskedForIsOnTheRecord(t *testing.T) {
	const token = "5eedc0de-1234-4abc-8def-012345678901"
	w := &world{outcome: registry.Outcome{Fault: "not-found", Detail: "None."}}
	d := newDispatcher(t, w, &bytes.Buffer{})
	for at, want := range map[string]string{"4711": `"at":"4711"`, "2026-03-02T09:00:00+01:00": `"at":"2026-03-02T08:00:00Z"`} {
		w.appended = nil
		_, err := d.Run(t.Context(), request(t, "webhook.get", administrator, "uuid="+token, "at="+at))
		if !fault.Is(err, fault.NotFound) || len(w.appended) != 1 || !bytes.Contains(w.appended[0].Value, []byte(want)) {
			t.Errorf("at %s: %v, recorded %v", at, err, w.appended)
		}
	}
	w.appended = nil
	for _, params := range [][]string{{"at=4711"}, {"uuid=" + token, "at=yesterday"}, {"uuid=" + token, "at="}} {
		if _, err := d.Run(t.Context(), request(t, "webhook.get", administrator, params...)); !fault.Is(err, fault.Invalid) {
			t.Errorf("%v: %v", params, err)
		}
	}
	if len(w.appended) != 0 {
		t.Errorf("recorded %v", w.appended)
	}
}
