//go:build faults

package faults_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hooklog/domain/call"
	"hooklog/domain/record"
	bounds "hooklog/domain/refused"
	"hooklog/domain/secret"
	gate "hooklog/domain/webhook"
	"hooklog/transport/httpapi"
)

// noWebhooks is a service that has none, and keeps what it writes.
type noWebhooks struct {
	mu      sync.Mutex
	records []record.Record
}

func (*noWebhooks) Gate(secret.TokenHash) (gate.Gate, bool) { return gate.Gate{}, false }
func (*noWebhooks) Fresh() error                            { return nil }
func (*noWebhooks) Current(context.Context) error           { return nil }

func (n *noWebhooks) Append(r *record.Record, done func(record.Position, error)) {
	n.mu.Lock()
	n.records = append(n.records, *r)
	n.mu.Unlock()
	done(record.Position{}, nil)
}

func (n *noWebhooks) AppendHeld(context.Context, *record.Record, func()) (record.Position, error) {
	panic("a call was taken")
}

// status is a caller that looks at nothing but the status.
type status struct {
	header http.Header
	code   int
}

func (s *status) Header() http.Header         { return s.header }
func (s *status) Write(p []byte) (int, error) { return len(p), nil }
func (s *status) WriteHeader(code int)        { s.code = code }

// stranger calls from an address of its own with a token of its own, in each of
// the places where a token may be.
func stranger(random *rand.Rand) *http.Request {
	var address [16]byte
	binary.BigEndian.PutUint64(address[:], random.Uint64()>>3|1<<61) // of 2000::/3
	binary.BigEndian.PutUint64(address[8:], random.Uint64())
	token := fmt.Sprintf("%08x-%04x-4%03x-8%03x-%012x", random.Uint32(), random.Uint32()>>16, random.Uint32()>>20, random.Uint32()>>20, random.Uint64()>>16)
	r := &http.Request{
		Method: http.MethodPost, URL: &url.URL{Path: receivePath}, Header: http.Header{"Content-Type": {"application/json"}},
		RemoteAddr: netip.AddrPortFrom(netip.AddrFrom16(address), 4711).String(), Body: http.NoBody,
	}
	switch random.IntN(3) {
	case 0:
		r.Header["Token"] = []string{token}
	case 1:
		r.URL.RawQuery = "token=" + token
	default:
		body := `{"token":"` + token + `"}`
		r.Body, r.ContentLength = io.NopCloser(strings.NewReader(body)), int64(len(body))
	}
	return r
}

func TestUnknownTokensFromEverywhere(t *testing.T) {
	callers := counts(50_000, 1_000_000)
	var service noWebhooks
	var lines atomic.Int64
	api := httpapi.New(httpapi.Config{BaseURL: "http://here", AppendTimeout: time.Second, Instance: "flooded", BodyBudget: 128 << 20}, httpapi.Deps{
		Log: slog.New(slog.NewTextHandler(countLines{&lines}, nil)), Now: time.Now,
		Gates: &service, Calls: &service, Events: &service, CallPartitions: func() int32 { return 1 },
	})
	handler := api.Handler()
	warm := httptest.NewRecorder()
	handler.ServeHTTP(warm, stranger(rand.New(rand.NewPCG(0, 0))))
	before := heap()

	start := time.Now()
	var calling sync.WaitGroup
	for half := range 2 {
		calling.Go(func() {
			random := rand.New(rand.NewPCG(1, uint64(half)))
			for range callers / 2 {
				answer := status{header: http.Header{}}
				handler.ServeHTTP(&answer, stranger(random))
				if answer.code != http.StatusNotFound {
					t.Errorf("answered %d", answer.code)
					return
				}
			}
		})
	}
	calling.Wait()
	took := time.Since(start)
	grown := heap() - before
	api.Close()

	counted, networks, size := int64(0), 0, 0
	for i := range service.records {
		decoded, err := call.Decode(&service.records[i])
		if err != nil {
			t.Fatal(err)
		}
		rejected := decoded.(call.Rejected)
		networks = max(networks, len(rejected.Networks))
		size += len(service.records[i].Value)
		for _, n := range rejected.Rest {
			counted += n
		}
		for _, network := range rejected.Networks {
			for _, n := range network.Reasons {
				counted += n
			}
		}
	}
	t.Logf("%d unknown tokens from as many IPv6 addresses in %s: memory grew by %d KiB, %d records of %d bytes, %d networks at most, %d log lines",
		callers, took.Round(time.Millisecond), grown>>10, len(service.records), size, networks, lines.Load())
	if counted != int64(callers)+1 {
		t.Errorf("%d refused calls are counted, and there were %d", counted, callers+1)
	}
	if most := int(took/time.Minute) + 1; len(service.records) > most || networks > bounds.MaxNetworks || size > most*64<<10 {
		t.Errorf("%d records of %d bytes with %d networks in %s", len(service.records), size, networks, took)
	}
	if grown > 4<<20 || lines.Load() > 0 {
		t.Errorf("memory has grown by %d KiB, and there are %d log lines", grown>>10, lines.Load())
	}
}

// heap is what is in use after a collection.
func heap() int64 {
	runtime.GC()
	runtime.GC() // what pools still hold
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}

// countLines counts the lines of a log.
type countLines struct{ n *atomic.Int64 }

func (c countLines) Write(p []byte) (int, error) {
	c.n.Add(1)
	return len(p), nil
}
