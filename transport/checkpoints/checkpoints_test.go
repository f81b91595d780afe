package checkpoints_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"

	"hooklog/domain/fault"
	"hooklog/domain/proof"
	"hooklog/domain/record"
	"hooklog/domain/secret"
	"hooklog/transport/checkpoints"
)

func TestACheckpointIsSignedAndOnRecord(t *testing.T) {
	w := newWorld(t)
	i := w.instance(0, 0, nil)
	if _, known := i.Latest(t.Context()); known {
		t.Fatal("there is a checkpoint before the first")
	}
	w.grow(5)
	signed, err := i.Sign(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c := w.open(signed.Note)
	tree := i.upTo(5)
	if h, _ := c.Head(record.TopicCall, 0); h.Size != 5 || h.Root != tree.Root() || c.Origin != w.key.Origin || c.Text() != signed.Text() {
		t.Errorf("signed is\n%s", c.Text())
	}
	r := w.topics[record.TopicCheckpoint][0]
	if string(r.Value) != signed.Note || string(r.Key) != w.key.Origin || r.Header(record.HeaderType) != "checkpoint/1" {
		t.Errorf("on record is %+v", r)
	}
	if line := i.lines.String(); !strings.Contains(line, "Checkpoint signed") || !strings.Contains(line, w.key.Origin) || !strings.Contains(line, "svc.call/0 size 5 root ") {
		t.Errorf("logged as %q", line)
	}
	t.Run("and every instance sees it", func(t *testing.T) {
		seen, known := w.instance(0, 0, nil).Latest(t.Context())
		if !known || seen.Note != signed.Note {
			t.Errorf("seen %v: %q", known, seen.Note)
		}
	})
	t.Run("also while the log is away", func(t *testing.T) {
		w.breakLog(errors.New("no broker"))
		defer w.breakLog(nil)
		if seen, known := i.Latest(t.Context()); !known || seen.Note != signed.Note {
			t.Errorf("seen %v: %q", known, seen.Note)
		}
		if _, err := i.Sign(t.Context()); err == nil {
			t.Error("it was signed without the log")
		}
	})
}

func TestWhatTheKeyDidNotSignIsNoCheckpoint(t *testing.T) {
	w := newWorld(t)
	i := w.instance(0, 0, nil)
	w.grow(3)
	good, err := i.Sign(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	stranger, _, err := note.GenerateKey(nil, w.key.Origin)
	if err != nil {
		t.Fatal(err)
	}
	forger, err := note.NewSigner(stranger)
	if err != nil {
		t.Fatal(err)
	}
	forged, err := note.Sign(&note.Note{Text: good.Text()}, forger)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []record.Record{
		{Value: forged, Headers: []record.Header{{Key: record.HeaderType, Value: []byte(checkpoints.Type)}}},
		{Value: []byte(good.Note)},
		{Value: []byte("{"), Headers: []record.Header{{Key: record.HeaderType, Value: []byte(checkpoints.Type)}}},
	} {
		r.Topic = record.TopicCheckpoint
		if _, err := w.AppendWait(t.Context(), &r); err != nil {
			t.Fatal(err)
		}
	}
	fresh := w.instance(0, 0, nil)
	if seen, known := fresh.Latest(t.Context()); !known || seen.Note != good.Note {
		t.Errorf("seen %v: %q", known, seen.Note)
	}
	if got := strings.Count(fresh.lines.String(), "Record is no checkpoint of this log"); got != 3 {
		t.Errorf("%d of 3 are warned of:\n%s", got, fresh.lines)
	}
}

func TestALogThatDiffersIsNotSignedAgain(t *testing.T) {
	w := newWorld(t)
	i := w.instance(0, 0, nil)
	w.grow(6)
	if _, err := i.Sign(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.topics[record.TopicCall][2].Value = []byte("another")
	w.grow(1)
	if _, err := i.Sign(t.Context()); !errors.Is(err, checkpoints.ErrDiffers) || !strings.Contains(err.Error(), "svc.call/0 before offset 6") {
		t.Errorf("ended with %v", err)
	}
	if n := len(w.signed()); n != 1 {
		t.Errorf("%d checkpoints are on record", n)
	}
}

func TestALogThatIsShorterThanWhatWasSignedIsNotSignedAgain(t *testing.T) {
	w := newWorld(t)
	w.grow(6)
	if _, err := w.instance(0, 0, nil).Sign(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.cut(record.TopicCall, 4)
	if _, err := w.instance(0, 0, nil).Sign(t.Context()); !errors.Is(err, checkpoints.ErrDiffers) || !strings.Contains(err.Error(), "svc.call/0 ends at 4") {
		t.Errorf("ended with %v", err)
	}
	if n := len(w.signed()); n != 1 {
		t.Errorf("%d checkpoints are on record", n)
	}
}

func TestAnInstanceThatIsBehindTakesNothingBack(t *testing.T) {
	w := newWorld(t)
	late := w.instance(0, 0, nil)
	w.grow(3)
	_ = late.current(t.Context())
	late.stuck = true
	w.grow(3)
	if _, err := w.instance(0, 0, nil).Sign(t.Context()); err != nil {
		t.Fatal(err)
	}
	signed, err := late.Sign(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if h, _ := signed.Head(record.TopicCall, 0); h.Size != 6 {
		t.Errorf("signed size %d after 6", h.Size)
	}
}

func TestATreeThatWasBegunLaterGoesOnFromTheEarliestCheckpointThatCoversIt(t *testing.T) {
	w := newWorld(t)
	whole := w.instance(0, 0, nil)
	for range 9 { // sizes 2, 4, … 18
		w.grow(2)
		if _, err := whole.Sign(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	forged := record.Record{Position: record.Position{Topic: record.TopicCheckpoint}}
	if _, err := w.AppendWait(t.Context(), &forged); err != nil {
		t.Fatal(err)
	}
	w.grow(1)
	fresh := w.instance(0, 7, nil)
	signed, err := fresh.Sign(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(fresh.adopted) != 1 || fresh.adopted[0].Size != 8 || fresh.adopted[0].Begun != 0 {
		t.Fatalf("adopted %+v, want the head of size 8", fresh.adopted)
	}
	tree := whole.upTo(19)
	if h, _ := signed.Head(record.TopicCall, 0); h.Root != tree.Root() {
		t.Error("the roots of two instances differ")
	}
}

func TestATreeBegunBehindAllThatWasSignedIsBegunOnRecord(t *testing.T) {
	w := newWorld(t)
	first := w.instance(0, 0, nil)
	w.grow(4)
	if _, err := first.Sign(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.grow(6)
	signed, err := w.instance(0, 7, nil).Sign(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if h, _ := signed.Head(record.TopicCall, 0); h.Begun != 7 || h.Size != 10 {
		t.Errorf("begun at %d with size %d", h.Begun, h.Size)
	}
	t.Run("and the others adopt it", func(t *testing.T) {
		for range 2 {
			if _, err := first.Sign(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if len(first.adopted) != 1 || first.adopted[0].Begun != 7 {
			t.Errorf("adopted %+v", first.adopted)
		}
		for _, c := range w.signed()[1:] {
			if h, _ := c.Head(record.TopicCall, 0); h.Begun != 7 {
				t.Errorf("begun at %d", h.Begun)
			}
		}
	})
}

func TestReceipts(t *testing.T) {
	w := newWorld(t)
	i := w.instance(time.Minute, 0, nil)
	w.grow(8)
	at := record.Position{Topic: record.TopicCall, Offset: 7}
	t.Run("before a checkpoint covers the record the answer tells when", func(t *testing.T) {
		_, err := i.Receipt(t.Context(), at)
		if f := fault.From(err); f.Kind != fault.Conflict || !strings.Contains(f.Detail, "every 1m0s") || f.RetryAfter != time.Minute {
			t.Errorf("answered with %+v", f)
		}
		_, err = w.instance(0, 0, nil).Receipt(t.Context(), at)
		if f := fault.From(err); f.Kind != fault.Conflict || !strings.Contains(f.Detail, "checkpoint.put") || f.RetryAfter != 0 {
			t.Errorf("without a schedule answered with %+v", f)
		}
	})
	if _, err := w.instance(0, 0, nil).Sign(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Run("a record is proved, also by the checkpoint of another instance", func(t *testing.T) {
		r, err := i.Receipt(t.Context(), at)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Check(w.open(r.Checkpoint)); err != nil {
			t.Error(err)
		}
	})
	t.Run("what the instance does not keep it does not prove", func(t *testing.T) {
		if _, err := i.Receipt(t.Context(), record.Position{Topic: record.TopicCall, Offset: 2}); !fault.Is(err, fault.Conflict) {
			t.Errorf("answered with %v", err)
		}
	})
	t.Run("nor what was changed", func(t *testing.T) {
		w.topics[record.TopicCall][7].Value = []byte("another")
		if r, err := i.Receipt(t.Context(), at); !fault.Is(err, fault.Conflict) {
			t.Errorf("answered with %+v, %v", r, err)
		}
	})
	t.Run("nor what the log does not have", func(t *testing.T) {
		if _, err := i.Receipt(t.Context(), record.Position{Topic: "svc.other"}); !fault.Is(err, fault.Conflict) {
			t.Errorf("answered with %v", err)
		}
	})
}

func TestNewRefusesAKeyThatItCannotUse(t *testing.T) {
	w := newWorld(t)
	for name, spoil := range map[string]func(*proof.Key){
		"sealed for another command": func(k *proof.Key) { k.SealedFor = "c2" },
		"no public half":             func(k *proof.Key) { k.Public = "x" },
		"nothing sealed":             func(k *proof.Key) { k.Sealed = secret.NewSealed("x") },
	} {
		t.Run(name, func(t *testing.T) {
			key := w.key
			spoil(&key)
			if _, err := checkpoints.New(key, w.ring, 0, checkpoints.Deps{}); err == nil {
				t.Error("it was taken")
			}
		})
	}
}
