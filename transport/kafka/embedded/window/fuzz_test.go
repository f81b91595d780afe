package window_test

import (
	"bytes"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"hooklog/transport/kafka/embedded/window"
)

// FuzzUnderstand: whatever a client sends, it is refused, or passed on in a form
// that is understood again in the same way.
func FuzzUnderstand(f *testing.F) {
	for _, req := range []kmsg.Request{
		fetch(11, "svc.call"),
		fetch(4, "svc.command"),
		join("g", "range", "sticky"),
		kmsg.NewPtrListOffsetsRequest(),
		kmsg.NewPtrOffsetCommitRequest(),
		kmsg.NewPtrOffsetFetchRequest(),
		kmsg.NewPtrLeaveGroupRequest(),
		kmsg.NewPtrApiVersionsRequest(),
	} {
		f.Add(kmsg.NewRequestFormatter(kmsg.FormatterClientID("fuzz")).AppendRequest(nil, req, 1))
	}
	f.Add([]byte{0x7f, 0xff, 0xff, 0xff})
	f.Add([]byte("GET / HTTP/1.1\r\n\r\n"))

	f.Fuzz(func(t *testing.T, sent []byte) {
		passed, err := window.Understand(bytes.NewReader(sent))
		if err != nil {
			return
		}
		again, err := window.Understand(bytes.NewReader(passed))
		if err != nil {
			t.Fatalf("what was passed on is not understood: %v\n%x", err, passed)
		}
		if !bytes.Equal(passed, again) {
			t.Fatalf("understood differently the second time:\n%x\n%x", passed, again)
		}
	})
}
