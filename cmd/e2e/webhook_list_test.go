package e2e_test

import (
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// How webhooks are read: with their tokens by webhook.get, without by webhook.list.
func TestReadingWebhooks(t *testing.T) {
	s := startOnOne(t)
	t.Run("without any webhook, webhook.get answers an empty array and webhook.list no items", func(t *testing.T) {
		s := s.in(t)
		if got := string(s.command("webhook.get").want(http.StatusOK).body); got != `[]` {
			t.Errorf("webhook.get answers %s", got)
		}
		if got := string(s.command("webhook.list").want(http.StatusOK).body); got != `{"items":[]}` {
			t.Errorf("webhook.list answers %s", got)
		}
	})
	keys := []string{"webhook.b", "webhook.a.b", "webhook.c", "webhook.a", "webhook.a-b"}
	for _, key := range keys {
		s.put("eventKey="+key, "payloadType=raw")
	}
	slices.Sort(keys)
	var all []map[string]any
	s.command("webhook.get").want(http.StatusOK).json(&all)

	t.Run("webhook.get answers a JSON array ordered by eventKey", func(t *testing.T) {
		if got := column(all, "eventKey"); !slices.Equal(got, keys) {
			t.Errorf("got %v, want %v", got, keys)
		}
	})
	t.Run("webhook.get with a uuid answers that one, as it stands in the list", func(t *testing.T) {
		for _, want := range all {
			got := s.in(t).command("webhook.get", "uuid="+want["uuid"].(string)).want(http.StatusOK).object()
			if !reflect.DeepEqual(got, want) {
				t.Errorf("got %v, want %v", got, want)
			}
		}
	})
	t.Run("webhook.list gives the same rows with last6 in place of uuid and webhookUrl", func(t *testing.T) {
		rows, next := s.in(t).page()
		if next != "" || len(rows) != len(all) {
			t.Fatalf("%d rows, next %q", len(rows), next)
		}
		for i, hook := range all {
			token := hook["uuid"].(string)
			want := maps.Clone(hook)
			delete(want, "uuid")
			delete(want, "webhookUrl")
			want["last6"] = token[len(token)-6:]
			if !reflect.DeepEqual(rows[i], want) {
				t.Errorf("got %v, want %v", rows[i], want)
			}
		}
	})
	t.Run("no token stands anywhere in webhook.list", func(t *testing.T) {
		s := s.in(t)
		found := func(body []byte) (n int) {
			for _, hook := range all {
				n += strings.Count(string(body), hook["uuid"].(string))
			}
			return n + strings.Count(string(body), "uuid") + strings.Count(string(body), "webhookUrl")
		}
		if n := found(s.command("webhook.get").body); n != 4*len(all) {
			t.Fatalf("the search finds %d in webhook.get, which has them", n)
		}
		for _, params := range [][]string{nil, {"limit=2"}} {
			a := s.command("webhook.list", params...).want(http.StatusOK)
			if n := found(a.body); n != 0 {
				t.Errorf("found %d in %s", n, a.body)
			}
		}
	})
	t.Run("answers that list have items, and next while there are more", func(t *testing.T) {
		s := s.in(t)
		for limit, wantPages := range map[string]int{"1": 5, "2": 3, "4": 2, "5": 1, "1000": 1} {
			var got []string
			pages, next := 0, ""
			for params := []string{"limit=" + limit}; ; params = []string{"limit=" + limit, "cursor=" + next} {
				var rows []map[string]any
				rows, next = s.page(params...)
				got = append(got, column(rows, "eventKey")...)
				if pages++; next == "" || pages > len(keys) {
					break
				}
			}
			if !slices.Equal(got, keys) || pages != wantPages {
				t.Errorf("limit %s gives %v in %d pages", limit, got, pages)
			}
		}
	})
	t.Run("a page goes on behind its last key, also when that webhook was deleted", func(t *testing.T) {
		s := s.in(t)
		_, next := s.page("limit=2")
		s.command("webhook.delete", "uuid="+all[1]["uuid"].(string)).want(http.StatusOK)
		rows, _ := s.page("limit=2", "cursor="+next)
		if got := column(rows, "eventKey"); !slices.Equal(got, keys[2:4]) {
			t.Errorf("got %v, want %v", got, keys[2:4])
		}
	})
	t.Run("limit is 1 to 1000, and cursor the next of an answer", func(t *testing.T) {
		s := s.in(t)
		for _, wrong := range []string{"limit=0", "limit=-1", "limit=1001", "limit=few", "cursor=", "cursor=%%%"} {
			s.command("webhook.list", wrong).refused(http.StatusBadRequest)
		}
	})
	t.Run("webhook.list and webhook.get answer a GET with a query", func(t *testing.T) {
		s := s.in(t)
		s.run(http.MethodGet, "webhook.list?limit=1", "", "").want(http.StatusOK)
		one := url.Values{"uuid": {all[0]["uuid"].(string)}}
		if got := s.run(http.MethodGet, "webhook.get?"+one.Encode(), "", "").want(http.StatusOK).object(); !reflect.DeepEqual(got, all[0]) {
			t.Errorf("got %v, want %v", got, all[0])
		}
	})
}

// page runs webhook.list and checks that its answer has nothing but items and next.
func (s *service) page(params ...string) (items []map[string]any, next string) {
	s.t.Helper()
	a := s.command("webhook.list", params...).want(http.StatusOK)
	for name := range a.object() {
		if name != "items" && name != "next" {
			s.t.Errorf("webhook.list answers with %s: %s", name, a.body)
		}
	}
	var p struct {
		Items []map[string]any
		Next  string
	}
	a.json(&p)
	return p.Items, p.Next
}

func column(rows []map[string]any, name string) (values []string) {
	for _, row := range rows {
		values = append(values, row[name].(string))
	}
	return values
}
