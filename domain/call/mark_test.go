package call_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"hooklog/domain/record"
)

// The headers are on logs that exist, and others read them: they stay for ever.
func TestEveryRecordOfACallSaysWhichCallAndTraceItIsOf(t *testing.T) {
	const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	a := accepted()
	for typ, encode := range map[string]func(int32) (record.Record, error){
		"call.accepted/1": a.Encode, "call.completed/1": completed().Encode, "call.retried/1": retried().Encode,
	} {
		t.Run(typ, func(t *testing.T) {
			r, err := encode(5)
			if err != nil {
				t.Fatal(err)
			}
			a.Mark(&r, record.ParseTraceContext(traceparent))
			want := []record.Header{
				{Key: "svc-type", Value: []byte(typ)},
				{Key: "traceparent", Value: []byte(traceparent)},
				{Key: "svc-trace-id", Value: []byte("6789ab:abcdefghij")},
				{Key: "svc-event-key", Value: []byte("webhook.orders")},
			}
			if diff := cmp.Diff(want, r.Headers); diff != "" {
				t.Errorf("headers (-want +got):\n%s", diff)
			}
		})
	}
}
