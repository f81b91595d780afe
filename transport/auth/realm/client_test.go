package realm_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"testing"
)

func TestAnOperatorsOwnClient(t *testing.T) {
	w := newWorld(t)
	grant := []string{"grant_type", "password", "username", "kim", "password", password}
	basic := func(id, word string, pairs ...string) *http.Request {
		r := post(append(slices.Clone(grant), pairs...)...)
		r.SetBasicAuth(url.QueryEscape(id), url.QueryEscape(word))
		return r
	}
	form := func(pairs ...string) *http.Request { return post(append(slices.Clone(grant), pairs...)...) }
	for name, c := range map[string]struct {
		r      *http.Request
		status int
		code   string
	}{
		"logs in by form":                       {form("client_id", "shop", "client_secret", "of the shop"), 200, ""},
		"logs in by header":                     {basic("shop", "of the shop"), 200, ""},
		"may repeat its id in the form":         {basic("shop", "of the shop", "client_id", "shop"), 200, ""},
		"is refused with a wrong secret":        {form("client_id", "shop", "client_secret", "of the shoq"), 401, "invalid_client"},
		"is refused with a wrong header":        {basic("shop", "of the shoq"), 401, "invalid_client"},
		"is refused with its secret's hash":     {form("client_id", "shop", "client_secret", w.people.clients["shop"].SecretHash), 401, "invalid_client"},
		"is refused without a secret":           {form("client_id", "shop"), 401, "invalid_client"},
		"is refused with an empty secret":       {basic("shop", ""), 401, "invalid_client"},
		"is refused in two ways at once":        {basic("shop", "of the shop", "client_secret", "of the shop"), 400, "invalid_request"},
		"is refused under two names":            {basic("shop", "of the shop", "client_id", "hooklog"), 400, "invalid_request"},
		"is refused when unknown":               {form("client_id", "nobody", "client_secret", "x"), 401, "invalid_client"},
		"is refused when unknown and public":    {form("client_id", "nobody"), 401, "invalid_client"},
		"needs a name":                          {form(), 400, "invalid_request"},
		"is refused when public with a secret":  {form("client_id", "hooklog", "client_secret", "x"), 401, "invalid_client"},
		"may be public by header":               {basic("hooklog", ""), 200, ""},
		"is refused with an encoding that lies": {func() *http.Request { r := form(); r.SetBasicAuth("%zz", "x"); return r }(), 401, "invalid_client"},
		"is refused with another scheme":        {func() *http.Request { r := form(); r.Header.Set("Authorization", "Bearer x"); return r }(), 401, "invalid_client"},
	} {
		t.Run(name, func(t *testing.T) {
			c.r.RemoteAddr = fmt.Sprintf("10.%d.%d.1:1", len(name), name[len(name)-1])
			got := w.send(t, c.r)
			if got.status != c.status || got.Error != c.code {
				t.Fatalf("got %s", got)
			}
			if challenged := got.header.Get("WWW-Authenticate") != ""; challenged != (c.status == http.StatusUnauthorized) {
				t.Errorf("challenge %q", got.header.Get("WWW-Authenticate"))
			}
		})
	}
	t.Run("is named in its tokens", func(t *testing.T) {
		got := w.send(t, basic("shop", "of the shop"))
		for scheme, token := range map[string]string{"Bearer": got.Access, "Refresh": got.Refresh} {
			if caller, err := w.call(scheme, token); err != nil || caller.Client != "shop" {
				t.Errorf("%s: %+v, %v", scheme, caller, err)
			}
		}
	})
}
