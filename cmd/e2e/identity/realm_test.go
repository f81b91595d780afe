package identity_test

import (
	"regexp"
	"testing"

	"hooklog/cmd/settings"
)

func TestOwnRealm(t *testing.T) {
	suite(t, &provider{
		settings: func(*settings.Config) {},
		prepare: func(t *testing.T, h *hooklog, p *provider) {
			p.tokenURL = h.url + "/auth/realms/hooklog/protocol/openid-connect/token"
			h.administer(t, "user.put", "username=wanda", "password="+passwordOf("wanda"), "roles=webhook-writer,webhook-reader")
			h.administer(t, "user.put", "username=rita", "password="+passwordOf("rita"), "roles=webhook-reader")
			p.service.secret, _ = h.administer(t, "client.put", "id="+p.service.id)["secret"].(string)
		},
		program:   client{id: "hooklog"},
		service:   client{id: "hooklog-service"},
		principal: regexp.MustCompile(`^wanda$`),
		rotate:    func(t *testing.T, h *hooklog) { h.administer(t, "key.rotate") },
		interrupt: func(_ *testing.T, h *hooklog, _ func()) {
			h.stop()
			h.start()
		},
	})
}
