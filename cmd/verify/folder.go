package verify

import (
	"context"
	"errors"
	"maps"
	"slices"

	"hooklog/domain/record"
	"hooklog/transport/kafka/embedded"
)

// Folder is the embedded log of a data folder that no service uses.
type Folder struct{ offline *embedded.Offline }

// OpenFolder opens a data folder, which nothing is written to.
func OpenFolder(dir string) (*Folder, error) {
	offline, err := embedded.OpenOffline(dir)
	return &Folder{offline}, err
}

// Close lets the folder go.
func (f *Folder) Close() error { return f.offline.Close() }

// Topics is for Log.
func (f *Folder) Topics(context.Context) ([]string, error) { return f.offline.Topics() }

// Bounds is for Log. Nothing is ever deleted from an embedded log.
func (f *Folder) Bounds(_ context.Context, topics ...string) (map[string][]record.Bounds, error) {
	all := make(map[string][]record.Bounds, len(topics))
	for _, topic := range topics {
		end, err := f.offline.End(topic)
		if err != nil {
			return nil, err
		}
		all[topic] = []record.Bounds{{End: end}}
	}
	return all, nil
}

// Read is for Log.
func (f *Folder) Read(ctx context.Context, topics map[string][]record.Bounds, visit func([]record.Record) error) (flaws []Flaw, err error) {
	for _, topic := range slices.Sorted(maps.Keys(topics)) {
		within := topics[topic][0]
		if within.Start >= within.End { // its folder may be gone
			continue
		}
		err := f.offline.Read(topic, within.Start, within.End, func(records []record.Record) error {
			if err := ctx.Err(); err != nil {
				return err
			}
			return visit(records)
		})
		var flaw *embedded.Flaw
		if errors.As(err, &flaw) {
			flaws = append(flaws, Flaw{At: flaw.At, Reason: flaw.Reason})
		} else if err != nil {
			return nil, err
		}
	}
	return flaws, nil
}
