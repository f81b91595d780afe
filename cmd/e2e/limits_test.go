package e2e_test

import (
	"strings"
	"testing"
)

// The lengths of the contract.
const (
	defaultPayload = 512000
	largestPayload = 4194304
)

func TestPayloadLimits(t *testing.T) {
	s := startOnOne(t)
	small := s.put("eventKey=webhook.limit.small", "maxPayloadLength=10")
	normal := s.put("eventKey=webhook.limit.normal")
	large := s.put("eventKey=webhook.limit.large", "maxPayloadLength=4194304")
	ignoring := s.put("eventKey=webhook.limit.ignoring", "maxPayloadLength=10", "payloadType=ignore")

	tests := []struct {
		name   string
		hook   webhook
		length int
	}{
		{"maxPayloadLength 10", small, 10},
		{"maxPayloadLength default 512000", normal, defaultPayload},
		{"maxPayloadLength maximum 4194304", large, largestPayload},
		{"limits count also for ignore", ignoring, 10},
	}
	for _, tt := range tests {
		for _, chunked := range []bool{false, true} {
			how := " with Content-Length"
			if chunked {
				how = " chunked"
			}
			call := request{query: "token=" + tt.hook.UUID, chunked: chunked}
			t.Run(tt.name+": exactly that passes"+how, func(t *testing.T) {
				call.body = strings.Repeat("x", tt.length)
				s.in(t).receive(call).want(200)
			})
			t.Run(tt.name+": one byte over is 413"+how, func(t *testing.T) {
				call.body = strings.Repeat("x", tt.length+1)
				wantProblem(t, s.in(t).receive(call), 413, true)
			})
		}
	}
	t.Run("nothing of the refused calls is on the log", func(t *testing.T) {
		s := s.in(t)
		for _, tt := range tests {
			if n := len(s.records("svc.event." + tt.hook.EventKey)); n != 2 {
				t.Errorf("%d events of %s, want the 2 that passed", n, tt.hook.EventKey)
			}
		}
	})
	t.Run("an edit of maxPayloadLength counts for the next call", func(t *testing.T) {
		s := s.in(t)
		s.put("uuid="+small.UUID, "maxPayloadLength=11")
		s.receive(request{query: "token=" + small.UUID, body: strings.Repeat("x", 11)}).want(200)
	})
}

func TestLimitsOfABodyThatBringsTheToken(t *testing.T) {
	s := startOnOne(t)
	hook := s.put("eventKey=webhook.limit.carried", "maxPayloadLength=100")
	large := s.put("eventKey=webhook.limit.largest", "maxPayloadLength=4194304")
	body := func(token string, length int) string {
		start := `{"token":"` + token + `","a":"`
		return start + strings.Repeat("x", length-len(start)-len(`"}`)) + `"}`
	}
	for _, chunked := range []bool{false, true} {
		t.Run("the webhook's limit counts as for every body", func(t *testing.T) {
			s := s.in(t)
			s.receive(request{contentType: asJSON, body: body(hook.UUID, 100), chunked: chunked}).want(200)
			wantProblem(t, s.receive(request{contentType: asJSON, body: body(hook.UUID, 101), chunked: chunked}), 413, true)
			s.receive(request{contentType: asJSON, body: body(large.UUID, largestPayload), chunked: chunked}).want(200)
		})
		t.Run("over 4 MB is 413, whoever calls", func(t *testing.T) {
			a := s.in(t).receive(request{contentType: asJSON, body: body(large.UUID, largestPayload+1), chunked: chunked})
			wantProblem(t, a, 413, false)
		})
	}
}

func TestLimitOfTheEncodedMessage(t *testing.T) {
	s := startOnOne(t)
	hook := s.put("eventKey=webhook.limit.encoded", "payloadType=raw", "maxPayloadLength=4194304")
	// A quotation mark takes two bytes in a message.
	t.Run("an encoded message over 8 MiB is 413", func(t *testing.T) {
		a := s.in(t).receive(request{query: "token=" + hook.UUID, contentType: asText, body: strings.Repeat(`"`, largestPayload)})
		wantProblem(t, a, 413, true)
	})
	t.Run("an encoded message just below 8 MiB is on the log", func(t *testing.T) {
		s := s.in(t)
		const room = 1000 // more than the rest of the message takes
		body := strings.Repeat(`"`, largestPayload-room)
		id := s.receive(request{query: "token=" + hook.UUID, contentType: asText, body: body}).accepted()
		if got := len(s.message(hook.EventKey, id).Payload); got != 2*len(body)+2 {
			t.Errorf("%d bytes of payload, want %d", got, 2*len(body)+2)
		}
	})
}
