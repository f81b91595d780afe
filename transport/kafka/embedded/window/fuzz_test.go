package window_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"hooklog/transport/kafka/embedded/window"
)

// withoutItsTags is an ApiVersions request that announces billions of tags, once
// in its header and once in its body, and has none.
const withoutItsTags = "\x00\x00\x00\x18\x00\x12\x00\x03\x00\x00\x00\x01\xff\xff\xff\xff\xff\xff\x0f\x02a\x02a\xff\xff\xff\xff\x0f"

func TestTagsThatAreNotThereCostNothing(t *testing.T) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = window.Understand(strings.NewReader(withoutItsTags))
	}()
	select {
	case <-done:
	case <-time.After(time.Second):
		t.Fatal("a short request is still being read after a second")
	}
}

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
	f.Add([]byte(withoutItsTags))

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
