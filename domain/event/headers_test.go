package event_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"hooklog/domain/event"
	"hooklog/domain/record"
)

func TestRecordHeadersAreInFixedOrder(t *testing.T) {
	meta := event.Meta{
		BaseURL: "https://hooks.example.com", Last6: "3d4e5f",
		Traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00",
	}
	want := [][2]string{
		{"ce_specversion", "1.0"},
		{"ce_id", "7f1f7a2e-8f5c-4f0e-9c57-2f0f6f9d7f11"},
		{"ce_type", "webhook.demo"},
		{"ce_source", "https://hooks.example.com/webhook/3d4e5f"},
		{"ce_time", "2026-03-04T05:07:08.090Z"},
		{"content-type", "application/json"},
		{"traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00"},
		{"svc-trace-id", "3d4e5f:abcdefghij"},
		{"svc-last6", "3d4e5f"},
	}
	t.Run("without a tracestate", func(t *testing.T) {
		if diff := cmp.Diff(want, pairs(event.Headers(sample(), meta))); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("with a tracestate", func(t *testing.T) {
		meta.Tracestate = "vendor=1"
		want := append(append(append([][2]string{}, want[:7]...), [2]string{"tracestate", "vendor=1"}), want[7:]...)
		if diff := cmp.Diff(want, pairs(event.Headers(sample(), meta))); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("and one value cannot grow into the next", func(t *testing.T) {
		headers := event.Headers(sample(), meta)
		_ = append(headers[0].Value, "overflow"...)
		if got := string(headers[1].Value); got != want[1][1] {
			t.Errorf("ce_id became %q", got)
		}
	})
}

func pairs(headers []record.Header) [][2]string {
	list := make([][2]string, 0, len(headers))
	for _, h := range headers {
		list = append(list, [2]string{h.Key, string(h.Value)})
	}
	return list
}
