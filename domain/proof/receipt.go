package proof

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"time"

	"hooklog/domain/record"
)

// ReceiptForm names the form of a receipt's JSON.
const ReceiptForm = "hooklog-receipt/1"

// Receipt proves that a record was on the log when a checkpoint was signed: the
// record as it stands there, the hashes that lead from it to its tree's root,
// and the signed checkpoint that names the root. It is checked with the public
// key alone.
type Receipt struct {
	Record record.Record
	// Proof holds the siblings on the way from the leaf up to the root.
	Proof []Hash
	// Checkpoint is the signed note. Whoever checks the receipt opens it with the
	// key that he trusts and hands its text on to ParseCheckpoint and Check.
	Checkpoint string
}

// Check says whether the proof leads from the record to the root that the
// checkpoint names. The checkpoint's signature is not looked at here.
func (r Receipt) Check(c Checkpoint) error {
	at := r.Record.Position
	head, known := c.Head(at.Topic, at.Partition)
	if !known {
		return fmt.Errorf("the checkpoint says nothing of partition %d of %s", at.Partition, at.Topic)
	}
	if at.Offset < head.Begun || at.Offset >= head.Size {
		return fmt.Errorf("the checkpoint covers the offsets from %d to before %d, not %d", head.Begun, head.Size, at.Offset)
	}
	root, err := rootFrom(LeafHash(&r.Record), at.Offset, head.Size, r.Proof)
	if err != nil {
		return err
	}
	if root != head.Root {
		return errors.New("the record and its proof do not give the root that was signed")
	}
	return nil
}

// rootFrom climbs from a leaf to the root of a tree of that size. As far as the
// leaf's path and that of the last leaf differ, every level has a sibling; above,
// the path is the right edge and has siblings on its left only.
func rootFrom(leaf Hash, index, size int64, siblings []Hash) (Hash, error) {
	inner := bits.Len64(uint64(index ^ (size - 1)))
	border := bits.OnesCount64(uint64(index) >> inner)
	if len(siblings) != inner+border {
		return Hash{}, fmt.Errorf("the proof has %d hashes, not %d", len(siblings), inner+border)
	}
	for level, sibling := range siblings {
		if level >= inner || index>>level&1 == 1 {
			leaf = NodeHash(sibling, leaf)
		} else {
			leaf = NodeHash(leaf, sibling)
		}
	}
	return leaf, nil
}

// The JSON of a receipt: bytes are base64, hashes too.
type (
	receiptJSON struct {
		Form       string     `json:"form"`
		Record     recordJSON `json:"record"`
		Proof      []string   `json:"proof"`
		Checkpoint string     `json:"checkpoint"`
	}
	recordJSON struct {
		Topic     string       `json:"topic"`
		Partition int32        `json:"partition"`
		Offset    int64        `json:"offset"`
		Time      time.Time    `json:"time"`
		Key       []byte       `json:"key"`
		Headers   []headerJSON `json:"headers"`
		Value     []byte       `json:"value"`
	}
	headerJSON struct {
		Key   string `json:"key"`
		Value []byte `json:"value"`
	}
)

// MarshalJSON writes the receipt in ReceiptForm.
func (r Receipt) MarshalJSON() ([]byte, error) {
	at := r.Record.Position
	out := receiptJSON{
		Form:       ReceiptForm,
		Record:     recordJSON{Topic: at.Topic, Partition: at.Partition, Offset: at.Offset, Time: r.Record.Time.UTC(), Key: r.Record.Key, Headers: []headerJSON{}, Value: r.Record.Value},
		Proof:      []string{},
		Checkpoint: r.Checkpoint,
	}
	for _, h := range r.Record.Headers {
		out.Record.Headers = append(out.Record.Headers, headerJSON(h))
	}
	for _, h := range r.Proof {
		out.Proof = append(out.Proof, encodeHash(h))
	}
	return json.Marshal(out)
}

// UnmarshalJSON reads a receipt in ReceiptForm; members that it does not know
// are refused, because nothing would check them. So are members that stand there
// twice, or in another case: other readers would take the one that was not checked.
func (r *Receipt) UnmarshalJSON(data []byte) error {
	var in receiptJSON
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&in); err != nil {
		return fmt.Errorf("no receipt: %w", err)
	}
	if err := checkMembers(json.NewDecoder(bytes.NewReader(data))); err != nil {
		return fmt.Errorf("no receipt: %w", err)
	}
	if in.Form != ReceiptForm {
		return fmt.Errorf("no receipt of the form %s", ReceiptForm)
	}
	if !in.Record.Time.Equal(in.Record.Time.Truncate(time.Millisecond)) {
		return errors.New("a record's time has no fractions of a millisecond")
	}
	out := Receipt{Checkpoint: in.Checkpoint, Record: record.Record{
		Position: record.Position{Topic: in.Record.Topic, Partition: in.Record.Partition, Offset: in.Record.Offset},
		Time:     in.Record.Time, Key: in.Record.Key, Value: in.Record.Value,
	}}
	for _, h := range in.Record.Headers {
		out.Record.Headers = append(out.Record.Headers, record.Header(h))
	}
	for _, text := range in.Proof {
		h, err := decodeHash(text)
		if err != nil {
			return fmt.Errorf("a hash of the receipt's proof: %w", err)
		}
		out.Proof = append(out.Proof, h)
	}
	*r = out
	return nil
}

var memberNames = []string{"form", "record", "proof", "checkpoint", "topic", "partition", "offset", "time", "key", "headers", "value"}

// checkMembers passes one value, and refuses objects in it that can be read in
// more than one way.
func checkMembers(d *json.Decoder) error {
	token, err := d.Token()
	if err != nil {
		return err
	}
	delimiter, composed := token.(json.Delim)
	if !composed {
		return nil
	}
	var seen []string
	for d.More() {
		if delimiter == '{' {
			token, err := d.Token()
			if err != nil {
				return err
			}
			member, _ := token.(string)
			if !slices.Contains(memberNames, member) || slices.Contains(seen, member) {
				return fmt.Errorf("member %q is written in another way, or twice", member)
			}
			seen = append(seen, member)
		}
		if err := checkMembers(d); err != nil {
			return err
		}
	}
	_, err = d.Token() // its end
	return err
}
