package commands_test

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hooklog/domain/access"
	"hooklog/domain/fault"
	"hooklog/domain/proof"
	"hooklog/domain/record"
	"hooklog/transport/commands"
)

// signer has one checkpoint, when it has signed.
type signer struct {
	signed *proof.Signed
	err    error
}

func (s *signer) Sign(context.Context) (proof.Signed, error) {
	if s.err != nil {
		return proof.Signed{}, s.err
	}
	s.signed = &proof.Signed{Note: "note", Checkpoint: proof.Checkpoint{
		Origin: "hooklog-1", Time: time.UnixMilli(1).UTC(),
		Heads: []proof.Head{{Topic: record.TopicCall, Partition: 2, Begun: 3, Size: 9, Root: proof.Hash{7}, Edge: []proof.Hash{{1}, {2}}}},
	}}
	return *s.signed, nil
}

func (s *signer) Latest(context.Context) (proof.Signed, bool) {
	if s.signed == nil {
		return proof.Signed{}, false
	}
	return *s.signed, true
}

func (*signer) PublicKey() string { return "key" }

func TestCheckpointCommands(t *testing.T) {
	w, s := &world{}, &signer{}
	d := newDispatcher(t, w, new(bytes.Buffer))
	d.Checkpoints = s
	administrator := []string{access.RoleAdministrator}
	root := proof.Hash{7}
	want := commands.Checkpoint{
		Origin: "hooklog-1", Time: time.UnixMilli(1).UTC(), Note: "note", PublicKey: "key",
		Trees: []commands.Tree{{Topic: record.TopicCall, Partition: 2, Begun: 3, Size: 9, Root: root[:]}},
	}
	t.Run("before the first there is none", func(t *testing.T) {
		if _, err := d.Run(t.Context(), request(t, "checkpoint.get", administrator)); !fault.Is(err, fault.NotFound) {
			t.Errorf("answered with %v", err)
		}
	})
	t.Run("one that cannot be signed is answered with 503, without the reason", func(t *testing.T) {
		s.err = errors.New("no broker at 10.0.0.1")
		defer func() { s.err = nil }()
		_, err := d.Run(t.Context(), request(t, "checkpoint.put", administrator))
		if !fault.Is(err, fault.Unavailable) || !errors.Is(err, s.err) || fault.From(err).Detail != "The checkpoint could not be signed." {
			t.Errorf("answered with %v", err)
		}
	})
	t.Run("a put is on record and answers what was signed", func(t *testing.T) {
		before := len(w.appended)
		got, err := d.Run(t.Context(), request(t, "checkpoint.put", administrator))
		if diff := cmp.Diff(any(want), got); err != nil || diff != "" {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
		if records := w.appended[before:]; len(records) != 1 || records[0].Topic != record.TopicCommand {
			t.Errorf("on record: %+v", records)
		}
	})
	t.Run("a get is a look and answers the newest", func(t *testing.T) {
		before := len(w.appended)
		got, err := d.Run(t.Context(), request(t, "checkpoint.get", administrator))
		if diff := cmp.Diff(any(want), got); err != nil || diff != "" {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
		if records := w.appended[before:]; len(records) != 1 || records[0].Topic != record.TopicAccess {
			t.Errorf("on record: %+v", records)
		}
	})
	t.Run("who may not look gets nothing", func(t *testing.T) {
		if _, err := d.Run(t.Context(), request(t, "checkpoint.get", nil)); !fault.Is(err, fault.Forbidden) {
			t.Errorf("answered with %v", err)
		}
	})
}
