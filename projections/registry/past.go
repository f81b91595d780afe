package registry

import (
	"encoding/binary"
	"encoding/json"
	"time"

	"hooklog/domain/secret"
	"hooklog/domain/webhook"
	"hooklog/projections/store"
)

// What a webhook was stays for ever: there is a row for each change, by where the
// command lies, which is empty for a deletion, and one for each moment of a change,
// by its time, which leads to the last command of that moment. Times never go back,
// so both have one order.

func pastPrefix(h secret.TokenHash) []byte {
	return append(append(store.Key(name, "past", ""), h[:]...), 'o')
}

func momentPrefix(h secret.TokenHash) []byte {
	return append(append(store.Key(name, "past", ""), h[:]...), 't')
}

func (r *rows) KeepWebhook(h secret.TokenHash, since webhook.Moment, w *webhook.Webhook) {
	offset := store.Ordered(uint64(since.Offset))
	past := append(pastPrefix(h), offset...)
	if w != nil {
		r.save(past, *w)
	} else {
		r.keep(r.batch.Set(past, nil))
	}
	r.keep(r.batch.Set(append(momentPrefix(h), moment(since.Time)...), []byte(offset)))
}

func (r *rows) WebhookAt(h secret.TokenHash, at webhook.Moment) (webhook.Webhook, bool) {
	offset := uint64(at.Offset)
	if !at.Time.IsZero() {
		moments := momentPrefix(h)
		last, found, err := r.batch.Last(moments, append(moments, moment(at.Time)...))
		r.keep(err)
		if !found || err != nil {
			return webhook.Webhook{}, false
		}
		offset = binary.BigEndian.Uint64(last)
	}
	past := pastPrefix(h)
	value, found, err := r.batch.Last(past, append(past, store.Ordered(offset)...))
	r.keep(err)
	if !found || err != nil || len(value) == 0 {
		return webhook.Webhook{}, false
	}
	var was webhook.Webhook
	err = json.Unmarshal(value, &was)
	r.keep(err)
	return was, err == nil
}

// moment is a time as a key part. Times before 1970 are those of nobody's clock.
func moment(t time.Time) string { return store.Ordered(uint64(max(t.UnixMilli(), 0))) }
