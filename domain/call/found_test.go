package call_test

import (
	"testing"
	"time"

	"hooklog/domain/call"
)

func TestASearchTakesWhatIsLookedFor(t *testing.T) {
	noon := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	found := call.Accepted{TraceID: "abc123:aaaaaaaaaa", Last6: "abc123", EventKey: "webhook.a", Received: noon}
	everybody := func(string) bool { return true }
	for name, tt := range map[string]struct {
		search call.Search
		want   bool
	}{
		"a call of the webhook":            {call.Search{Last6: "abc123"}, true},
		"none of another webhook":          {call.Search{Last6: "abc124"}, false},
		"a call with the trace id":         {call.Search{TraceID: "abc123:aaaaaaaaaa"}, true},
		"none with another trace id":       {call.Search{TraceID: "abc123:aaaaaaaaab"}, false},
		"none with a part of the trace id": {call.Search{TraceID: "abc123"}, false},
		"a call to the key":                {call.Search{Last6: "abc123", EventKey: "webhook.a"}, true},
		"none to another key":              {call.Search{Last6: "abc123", EventKey: "webhook.b"}, false},
		"a call at the first moment":       {call.Search{From: noon}, true},
		"none before it":                   {call.Search{From: noon.Add(1)}, false},
		"a call before the last moment":    {call.Search{To: noon.Add(1)}, true},
		"none at it":                       {call.Search{To: noon}, false},
		"none that may not be read":        {call.Search{Readable: func(key string) bool { return key != "webhook.a" }}, false},
	} {
		t.Run(name, func(t *testing.T) {
			if tt.search.Readable == nil {
				tt.search.Readable = everybody
			}
			if got := tt.search.Takes(found); got != tt.want {
				t.Errorf("takes it: %v, want %v", got, tt.want)
			}
		})
	}
}

func TestAnAcceptedRecordIsReadByItsValueAlone(t *testing.T) {
	for name, method := range map[string]string{"a usual one": "POST", "one with a text that JSON escapes": "PO\nST"} {
		t.Run(name, func(t *testing.T) {
			a := call.Accepted{CorrelationID: "c0ffee00-1234-4abc-8def-000000000001", Method: method, Received: time.Unix(1, 0).UTC()}
			r, err := a.Encode(0)
			if err != nil {
				t.Fatal(err)
			}
			got, err := call.DecodeAccepted(r.Value)
			if err != nil || got.CorrelationID != a.CorrelationID || got.Method != method {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
	if _, err := call.DecodeAccepted([]byte("{")); err == nil {
		t.Error("what is no JSON is read")
	}
}

func TestWhatAPipelineSentIsToldFromACall(t *testing.T) {
	if (call.Accepted{Method: "POST"}).Sent() || !(call.Accepted{Method: "event.send"}).Sent() {
		t.Error("they are not told apart")
	}
}
