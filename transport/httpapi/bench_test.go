package httpapi_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
	"time"

	"hooklog/domain/record"
	"hooklog/domain/webhook"
	"hooklog/transport/httpapi"
)

type noJournal struct{}

func (noJournal) AppendHeld(_ context.Context, r *record.Record, release func()) (record.Position, error) {
	release()
	return r.Position, nil
}

func (noJournal) Append(*record.Record, func(record.Position, error)) {}

// discard is a response writer that costs nothing.
type discard struct{ header http.Header }

func (d discard) Header() http.Header         { return d.header }
func (d discard) Write(p []byte) (int, error) { return len(p), nil }
func (d discard) WriteHeader(int)             {}

// SetReadDeadline is what a connection has.
func (d discard) SetReadDeadline(time.Time) error { return nil }

// BenchmarkReceive is a call from the router to the answer, without a log.
func BenchmarkReceive(b *testing.B) {
	all := gates{}
	all.add(b, token, webhook.Gate{EventKey: "webhook.orders", PayloadType: webhook.Base64, MaxPayloadLength: webhook.MaxPayloadLength})
	handler := httpapi.New(httpapi.Config{BaseURL: baseURL, AppendTimeout: 8 * time.Second, BodyBudget: budget}, httpapi.Deps{
		Log:            slog.New(slog.NewJSONHandler(io.Discard, nil)),
		Now:            time.Now,
		Gates:          view{&world{gates: all}},
		Listeners:      func(string) []string { return nil },
		Events:         noJournal{},
		Calls:          noJournal{},
		CallPartitions: func() int32 { return 6 },
	}).Handler()
	for _, size := range []int{200, 10_000, 500_000} {
		b.Run(strconv.Itoa(size)+" bytes", func(b *testing.B) {
			content := bytes.Repeat([]byte("x"), size)
			body := bytes.NewReader(content)
			r := httptest.NewRequest(http.MethodPost, receive, body)
			r.Header.Set("Token", token)
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("User-Agent", "bench")
			w := discard{http.Header{}}
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				body.Reset(content)
				clear(w.header)
				handler.ServeHTTP(w, r)
			}
		})
	}
}
