package proof

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Head is what a tree is at one size. The edge lets a tree go on from there
// without what came before.
type Head struct {
	Topic     string
	Partition int32
	// Begun is the offset of the tree's first record, 0 for a tree of the whole
	// partition.
	Begun int64
	Size  int64
	Root  Hash
	Edge  []Hash
}

// HeadOf is the head of a partition's tree.
func HeadOf(topic string, partition int32, t *Tree) Head {
	return Head{Topic: topic, Partition: partition, Begun: t.Begun(), Size: t.Size(), Root: t.Root(), Edge: t.Edge()}
}

// Checkpoint says how far every tree of a log was at a moment: each record before
// a head's size was on the log then. Heads are ordered by topic and partition.
type Checkpoint struct {
	Origin string
	Time   time.Time
	Heads  []Head
}

// Head is the head of a partition's tree.
func (c Checkpoint) Head(topic string, partition int32) (Head, bool) {
	for _, h := range c.Heads {
		if h.Topic == topic && h.Partition == partition {
			return h, true
		}
	}
	return Head{}, false
}

const (
	timePrefix  = "time "
	begunPrefix = "begun="
	noEdge      = "-"
)

// Text is the text that is signed: the origin, the time, and a line for each
// head. It is the same for ever, because signatures are over it.
func (c Checkpoint) Text() string {
	var b strings.Builder
	b.WriteString(c.Origin + "\n")
	b.WriteString(timePrefix + c.Time.UTC().Format(time.RFC3339Nano) + "\n")
	for _, h := range c.Heads {
		fmt.Fprintf(&b, "%s %d %d %s %s", h.Topic, h.Partition, h.Size, encodeHash(h.Root), encodeEdge(h.Edge))
		if h.Begun > 0 {
			fmt.Fprintf(&b, " %s%d", begunPrefix, h.Begun)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// ParseCheckpoint reads what Text wrote, and nothing else: a text that would be
// written in another way is refused, and so is a head whose edge does not give
// its root.
func ParseCheckpoint(text string) (Checkpoint, error) {
	origin, rest, _ := strings.Cut(text, "\n")
	moment, rest, _ := strings.Cut(rest, "\n")
	if !isName(origin) || !strings.HasPrefix(moment, timePrefix) {
		return Checkpoint{}, errors.New("a checkpoint begins with its origin and its time")
	}
	c := Checkpoint{Origin: origin}
	var err error
	if c.Time, err = time.Parse(time.RFC3339Nano, strings.TrimPrefix(moment, timePrefix)); err != nil {
		return Checkpoint{}, fmt.Errorf("the checkpoint's time: %w", err)
	}
	for line := range strings.Lines(rest) {
		h, err := parseHead(strings.TrimSuffix(line, "\n"))
		if err != nil {
			return Checkpoint{}, fmt.Errorf("head %d of the checkpoint: %w", len(c.Heads), err)
		}
		if n := len(c.Heads); n > 0 && !c.Heads[n-1].before(h) {
			return Checkpoint{}, errors.New("the heads of the checkpoint are out of order")
		}
		c.Heads = append(c.Heads, h)
	}
	if c.Text() != text {
		return Checkpoint{}, errors.New("the checkpoint is not written as checkpoints are")
	}
	return c, nil
}

func (h Head) before(other Head) bool {
	return h.Topic < other.Topic || h.Topic == other.Topic && h.Partition < other.Partition
}

func parseHead(line string) (Head, error) {
	fields := strings.Split(line, " ")
	if len(fields) != 5 && len(fields) != 6 {
		return Head{}, errors.New("a head has topic, partition, size, root and edge")
	}
	h := Head{Topic: fields[0]}
	partition, err := strconv.ParseInt(fields[1], 10, 32)
	if err != nil {
		return Head{}, fmt.Errorf("the partition: %w", err)
	}
	h.Partition = int32(partition)
	if h.Size, err = strconv.ParseInt(fields[2], 10, 64); err != nil {
		return Head{}, fmt.Errorf("the size: %w", err)
	}
	if h.Root, err = decodeHash(fields[3]); err != nil {
		return Head{}, fmt.Errorf("the root: %w", err)
	}
	if h.Edge, err = decodeEdge(fields[4]); err != nil {
		return Head{}, fmt.Errorf("the edge: %w", err)
	}
	if len(fields) == 6 {
		if h.Begun, err = strconv.ParseInt(strings.TrimPrefix(fields[5], begunPrefix), 10, 64); err != nil {
			return Head{}, fmt.Errorf("where it was begun: %w", err)
		}
	}
	if !isName(h.Topic) || h.Partition < 0 {
		return Head{}, errors.New("a head is of a topic's partition")
	}
	_, err = Resume(h)
	return h, err
}

// isName tells whether it can be a topic's name, and so an origin's.
func isName(text string) bool {
	for _, c := range text {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && !strings.ContainsRune("._-", c) {
			return false
		}
	}
	return text != ""
}

func encodeHash(h Hash) string { return base64.StdEncoding.EncodeToString(h[:]) }

func decodeHash(text string) (Hash, error) {
	b, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil {
		return Hash{}, err
	}
	if len(b) != len(Hash{}) {
		return Hash{}, fmt.Errorf("a hash has %d bytes, not %d", len(Hash{}), len(b))
	}
	return Hash(b), nil
}

func encodeEdge(edge []Hash) string {
	if len(edge) == 0 {
		return noEdge
	}
	texts := make([]string, len(edge))
	for i, h := range edge {
		texts[i] = encodeHash(h)
	}
	return strings.Join(texts, ",")
}

func decodeEdge(text string) ([]Hash, error) {
	if text == noEdge {
		return nil, nil
	}
	var edge []Hash
	for part := range strings.SplitSeq(text, ",") {
		h, err := decodeHash(part)
		if err != nil {
			return nil, err
		}
		edge = append(edge, h)
	}
	return edge, nil
}
