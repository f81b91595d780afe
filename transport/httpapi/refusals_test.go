package httpapi_test

import (
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"hooklog/domain/call"
	"hooklog/domain/record"
	"hooklog/domain/refused"
	"hooklog/transport/auth"
)

// from sends a request from an address.
func (w *world) from(address string, r *http.Request) int {
	r.RemoteAddr = netip.AddrPortFrom(netip.MustParseAddr(address), 1).String()
	return w.do(r).Code
}

func TestRefusedCallsAreCountedByTheirNetwork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		began := time.Now()
		encoded := withToken(newPost(receive, "text/plain", "x"))
		encoded.Header.Set("Content-Encoding", "gzip")
		w.from("192.0.2.1", postTo(unknown, untouched{t}))
		w.from("192.0.2.200", postTo(unknown, untouched{t}))
		w.from("192.0.2.3", encoded)
		w.from("2001:db8:1:2::3", postTo(unknown, untouched{t}))
		w.from("198.51.100.1", withToken(newPost(receive, "text/plain", "x")))
		time.Sleep(59 * time.Second)
		synctest.Wait()
		if len(w.journal.counts()) != 0 {
			t.Fatal("they were not counted for a minute")
		}
		time.Sleep(time.Second)
		synctest.Wait()
		want := []call.Rejected{{
			Instance: instance,
			From:     began.UTC(),
			To:       began.Add(time.Minute).UTC(),
			Networks: []refused.Network{
				{Prefix: netip.MustParsePrefix("192.0.2.0/24"), Reasons: map[string]int64{"not-found": 2, "unsupported": 1}},
				{Prefix: netip.MustParsePrefix("2001:db8:1::/48"), Reasons: map[string]int64{"not-found": 1}},
			},
		}}
		if diff := cmp.Diff(want, w.journal.counts(), cmpopts.EquateComparable(netip.Prefix{})); diff != "" {
			t.Errorf("counts differ (-want +got):\n%s", diff)
		}

		time.Sleep(time.Hour) // nothing refused, nothing written
		w.from("192.0.2.1", postTo(unknown, untouched{t}))
		w.api.Close()
		w.from("192.0.2.1", postTo(unknown, untouched{t}))
		if len(w.journal.counts()) != 2 || !w.journal.counts()[1].From.Equal(time.Now()) {
			t.Errorf("the end brought %+v", w.journal.counts()[1:])
		}
	})
}

func TestCountsThatTheLogDoesNotTakeAreOnlyLogged(t *testing.T) {
	w := newWorld(t, func(w *world) { w.journal.refuse = refuseOn(record.TopicCall, errors.New("full")) })
	w.from("192.0.2.1", postTo(unknown, untouched{t}))
	w.api.Close()
	if lines := w.log.lines(t); len(lines) != 1 || lines[0]["msg"] != "Counts of refusals were not recorded" {
		t.Errorf("lines %v", lines)
	}
}

func TestTheAddressIsTheOneThatATrustedProxySays(t *testing.T) {
	w := newWorld(t, func(w *world) {
		w.cfg.Proxies = auth.Proxies{Trusted: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}, Header: "x-forwarded-for"}
	})
	forwarded := func(r *http.Request) *http.Request {
		r.Header.Set("X-Forwarded-For", "203.0.113.1, 198.51.100.9")
		return r
	}
	if got := w.from("10.0.0.1", forwarded(withToken(newPost(receive, "text/plain", "x")))); got != http.StatusOK {
		t.Fatalf("status %d", got)
	}
	if _, accepted := w.journal.taken(t); accepted.Address != "198.51.100.9" {
		t.Errorf("accepted from %s", accepted.Address)
	}
	w.from("10.0.0.1", forwarded(postTo(unknown, untouched{t})))
	w.from("192.0.2.1", forwarded(postTo(unknown, untouched{t}))) // no proxy of ours
	w.api.Close()
	networks := w.journal.counts()[0].Networks
	if len(networks) != 2 || networks[0].Prefix.String() != "192.0.2.0/24" || networks[1].Prefix.String() != "198.51.100.0/24" {
		t.Errorf("counted under %v", networks)
	}
}

// flood is how many calls come in; the memory that they may take does not depend
// on it.
var flood = flag.Int("flood", 20_000, "calls of the flood of unknown tokens")

func TestAFloodOfUnknownTokensIsAFewSmallRecords(t *testing.T) {
	const minutes = 10
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		writer := discard{http.Header{}}
		r := postTo(unknown, untouched{t})
		before := inUse()
		for i := range *flood {
			// Each from a network of its own.
			r.Header["Token"][0] = fmt.Sprintf("%08x-2222-4333-8444-555555abcdef", i)
			r.RemoteAddr = fmt.Sprintf("[2001:%x:%x::1]:1", i>>16, i&0xffff)
			clear(writer.header)
			w.handler.ServeHTTP(writer, r)
			if i%(*flood/minutes) == 0 {
				time.Sleep(time.Minute)
			}
		}
		w.api.Close()
		grown := inUse() - before
		var counted, largest int
		for _, rejected := range w.journal.counts() {
			rec, err := rejected.Encode(0)
			if err != nil {
				t.Fatal(err)
			}
			largest = max(largest, len(rec.Value))
			if len(rejected.Networks) > refused.MaxNetworks {
				t.Errorf("%d networks are told apart", len(rejected.Networks))
			}
			counted += int(rejected.Rest["not-found"])
			for _, network := range rejected.Networks {
				counted += int(network.Reasons["not-found"])
			}
		}
		if records := len(w.journal.counts()); records > minutes+1 || counted != *flood || largest > 10_000 {
			t.Errorf("%d records of at most %d bytes count %d calls", records, largest, counted)
		}
		if grown > 8<<20 || w.log.String() != "" {
			t.Errorf("memory grew by %d KiB; the log has %s", grown>>10, w.log)
		}
		t.Logf("%d unknown tokens from as many IPv6 networks: %d records of at most %d bytes, memory grew by %d KiB",
			*flood, len(w.journal.counts()), largest, grown>>10)
	})
}
