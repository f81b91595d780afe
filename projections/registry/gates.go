package registry

import (
	"encoding/binary"
	"slices"
	"strings"
	"sync"

	"hooklog/domain/secret"
	"hooklog/domain/webhook"
)

// gates finds the gate of a token's hash. There may be a million of them and
// every call looks one up, so a look-up goes to one place in memory, besides the
// shards themselves, which stay in the processor's cache, and waits for nobody
// but a change of the same shard. The garbage collector has nothing to follow.
type gates struct {
	shards [256]shard
}

// gateChange opens a gate, replaces it, or closes it.
type gateChange struct {
	hash secret.TokenHash
	gate webhook.Gate
	open bool
}

func changeTo(w webhook.Webhook) gateChange {
	gate, open := w.Gate()
	return gateChange{w.Token.Hash, gate, open}
}

func (g *gates) find(hash secret.TokenHash) (webhook.Gate, bool) {
	t := tag(hash[:])
	return g.shards[t[0]].find(t)
}

func (g *gates) publish(changes []gateChange) {
	for _, c := range changes {
		t := tag(c.hash[:])
		g.shards[t[0]].change(t, c)
	}
}

// tag is the part of a hash by which gates are told apart. Its 160 bits are more
// than the random ones of a token.
type tag [20]byte

// shard is a hash table with linear probing. The hash function is the tag itself.
type shard struct {
	mu    sync.RWMutex
	slots []slot
	// names holds the event key and the last6 of each gate, end to end.
	names strings.Builder
	// uses counts the gates that were opened or replaced since the last rebuild,
	// for each of which a slot may be taken and a name is kept.
	uses int
}

// slot is half a cache line. One that was ever used stays so until the rebuild,
// because the search for others goes on behind it.
type slot struct {
	tag         tag
	name        uint32 // where the name begins
	maxLength   uint32
	keyLength   uint8
	last6Length uint8
	payloadType uint8 // index of webhook.PayloadTypes
	state       slotState
}

type slotState uint8

const (
	unused slotState = iota
	opened
	closed
)

func (s *shard) find(t tag) (webhook.Gate, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if len(s.slots) == 0 {
		return webhook.Gate{}, false
	}
	at := s.slot(t)
	if at.state != opened {
		return webhook.Gate{}, false
	}
	name := s.name(at)
	return webhook.Gate{
		EventKey:         name[:at.keyLength],
		Last6:            name[at.keyLength:],
		PayloadType:      webhook.PayloadType(webhook.PayloadTypes[at.payloadType]),
		MaxPayloadLength: int(at.maxLength),
	}, true
}

// slot is the one that holds the tag, or else the unused one that would.
func (s *shard) slot(t tag) *slot {
	n := uint64(len(s.slots))
	i := uint64(binary.BigEndian.Uint32(t[1:])) * n >> 32
	for s.slots[i].state != unused && s.slots[i].tag != t {
		if i++; i == n {
			i = 0
		}
	}
	return &s.slots[i]
}

func (s *shard) name(at *slot) string {
	return s.names.String()[at.name:][:int(at.keyLength)+int(at.last6Length)]
}

func (s *shard) change(t tag, c gateChange) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.uses >= len(s.slots)*2/3 {
		s.rebuild()
	}
	if !c.open {
		if at := s.slot(t); at.state == opened {
			at.state = closed
		}
		return
	}
	s.set(slot{
		tag:         t,
		maxLength:   uint32(c.gate.MaxPayloadLength),
		keyLength:   uint8(len(c.gate.EventKey)),
		last6Length: uint8(len(c.gate.Last6)),
		payloadType: uint8(slices.Index(webhook.PayloadTypes, string(c.gate.PayloadType))),
		state:       opened,
	}, c.gate.EventKey+c.gate.Last6)
}

func (s *shard) set(gate slot, name string) {
	gate.name = uint32(s.names.Len())
	s.names.WriteString(name)
	*s.slot(gate.tag) = gate
	s.uses++
}

// rebuild makes room: the gates that are open fill a third of the slots, and
// nothing is left of the others.
func (s *shard) rebuild() {
	var names []string
	var gates []slot
	for i := range s.slots {
		if at := &s.slots[i]; at.state == opened {
			gates, names = append(gates, *at), append(names, s.name(at))
		}
	}
	s.slots = make([]slot, 3*len(gates)+8)
	s.names.Reset() // names keep the memory that they lie in
	s.uses = 0
	for i, gate := range gates {
		s.set(gate, names[i])
	}
}
