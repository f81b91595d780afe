package e2e_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"golang.org/x/mod/sumdb/tlog"

	"hooklog/domain/proof"
	"hooklog/domain/record"
)

func TestAReceiptProvesACall(t *testing.T) {
	onBothLogs(t, func(t *testing.T, start func(...option) *service) {
		s := start()
		hook := s.put("eventKey=webhook.proved")
		var calls []result
		for range 5 {
			calls = append(calls, s.called(hook.UUID, asText, "hello"))
		}
		s.command("trace.get", "correlationId="+calls[2].CorrelationID, "receipt=true").refused(http.StatusConflict)
		s.checkpoint()
		for _, call := range calls {
			var page struct {
				Items []struct{ Receipt json.RawMessage }
			}
			s.command("trace.get", "correlationId="+call.CorrelationID, "receipt=true").want(http.StatusOK).json(&page)
			if len(page.Items) != 1 {
				t.Fatalf("%d calls have the correlation id", len(page.Items))
			}
			var r proof.Receipt
			if err := json.Unmarshal(page.Items[0].Receipt, &r); err != nil {
				t.Fatal(err)
			}
			c := s.verified(r.Checkpoint)
			if err := r.Check(c); err != nil {
				t.Error(err)
			}
			outside := make(tlog.RecordProof, len(r.Proof))
			for i, h := range r.Proof {
				outside[i] = tlog.Hash(h)
			}
			head, _ := c.Head(record.TopicCall, r.Record.Partition)
			if err := tlog.CheckRecord(outside, head.Size, tlog.Hash(head.Root), r.Record.Offset, tlog.RecordHash(record.Leaf(&r.Record))); err != nil {
				t.Error(err)
			}
			var accepted struct{ CorrelationID string }
			if err := json.Unmarshal(r.Record.Value, &accepted); err != nil || accepted.CorrelationID != call.CorrelationID {
				t.Errorf("the receipt of %s is for %s", call.CorrelationID, r.Record.Value)
			}
		}
	})
}
