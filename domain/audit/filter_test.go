package audit_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hooklog/domain/audit"
)

func TestAFilterTakesWhatIsWantedAndMayBeSeen(t *testing.T) {
	entry := audit.Entry{
		Time: monday, Command: "webhook.put", Outcome: "ok", Who: audit.Who{Principal: "anonymousUser", Effective: "batch", Owner: "kim"},
		About: audit.About{EventKey: "webhook.b", Last6: "678901", Keys: []string{"webhook.a", "webhook.b"}},
	}
	about := func(keys ...string) audit.Entry {
		e := entry
		e.Keys = keys
		return e
	}
	only := func(keys ...string) func(string) bool {
		return func(key string) bool { return strings.Contains(strings.Join(keys, " "), key) }
	}
	all := only("webhook.a", "webhook.b")
	for _, tt := range []struct {
		name   string
		filter audit.Filter
		entry  audit.Entry
		want   bool
	}{
		{"everything", audit.Filter{}, entry, true},
		{"from its time on", audit.Filter{From: monday}, entry, true},
		{"from a later time on", audit.Filter{From: monday.Add(1)}, entry, false},
		{"before its time", audit.Filter{To: monday}, entry, false},
		{"before a later time", audit.Filter{To: monday.Add(1)}, entry, true},
		{"of the principal", audit.Filter{User: "anonymousUser"}, entry, true},
		{"of the effective user", audit.Filter{User: "batch"}, entry, true},
		{"of the owner", audit.Filter{User: "kim"}, entry, true},
		{"of somebody else", audit.Filter{User: "ann"}, entry, false},
		{"of the command", audit.Filter{Command: "webhook.put"}, entry, true},
		{"of another command", audit.Filter{Command: "webhook"}, entry, false},
		{"of the webhook's key", audit.Filter{Webhook: "webhook.b"}, entry, true},
		{"of the key that it had", audit.Filter{Webhook: "webhook.a"}, entry, true},
		{"of its last6", audit.Filter{Webhook: "678901"}, entry, true},
		{"of another webhook", audit.Filter{Webhook: "webhook"}, entry, false},
		{"of the outcome", audit.Filter{Outcome: "ok"}, entry, true},
		{"of another outcome", audit.Filter{Outcome: "forbidden"}, entry, false},
		{"for who may read one of its keys", audit.Filter{Readable: only("webhook.b")}, entry, false},
		{"for who may read its only key", audit.Filter{Readable: only("webhook.b")}, about("webhook.b"), true},
		{"about no key, for who may read all there are", audit.Filter{}, about(), false},
		{"about no key, for who may read everything", audit.Filter{All: true}, about(), true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.filter.Readable == nil {
				tt.filter.Readable = all
			}
			if got := tt.filter.Takes(tt.entry); got != tt.want {
				t.Errorf("taken: %v", got)
			}
		})
	}
}

func TestAnEntryTellsNothingOfOtherKeys(t *testing.T) {
	entry := audit.Entry{
		Who:    audit.Who{Principal: "anonymousUser", Effective: "batch", Owner: "kim", Via: "line@3", Call: "c0ffee00-1234-4abc-8def-000000000001"},
		About:  audit.About{EventKey: "webhook.a", Keys: []string{"webhook.a"}},
		Params: map[string]any{"correlationId": "c0ffee00-1234-4abc-8def-000000000002", "limit": 3},
	}
	for _, tt := range []struct {
		name string
		keys string
		all  bool
		want audit.Who
		asks int
	}{
		{"to who may see everything", "", true, entry.Who, 2},
		{"to who may see the pipeline", "webhook.a line", false, audit.Who{Principal: "anonymousUser", Effective: "batch", Owner: "kim", Via: "line@3"}, 1},
		{"to who may see the webhook alone", "webhook.a", false, audit.Who{Principal: "anonymousUser", Effective: "batch"}, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := audit.Filter{All: tt.all, Readable: func(key string) bool { return slices.Contains(strings.Fields(tt.keys), key) }}
			shown := f.Shown(entry)
			if diff := cmp.Diff(tt.want, shown.Who); diff != "" {
				t.Errorf("who (-want +got):\n%s", diff)
			}
			if len(shown.Params) != tt.asks || len(entry.Params) != 2 {
				t.Errorf("shows %v of %v", shown.Params, entry.Params)
			}
		})
	}
}
