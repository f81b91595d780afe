package disk

import "encoding/json"

// snapshot is what the broker has written of a partition at its last orderly
// end. Where the files still have the sizes named there, the broker believes
// its offsets; else it reads everything. Since records are only ever added, the
// log must hold at least what the snapshot says.
type snapshot struct {
	Version    int             `json:"version"`
	End        int64           `json:"high_watermark"`
	StableEnd  int64           `json:"last_stable_offset"`
	Start      int64           `json:"log_start_offset"`
	Epoch      int32           `json:"epoch"`
	Leader     int32           `json:"leader_node"`
	MaxTime    int64           `json:"max_timestamp"`
	CreatedAt  json.RawMessage `json:"created_at"`
	AbortedTxs json.RawMessage `json:"aborted_txns"`
	Segments   []struct {
		Base     int64 `json:"base_offset"`
		Size     int64 `json:"size"`
		MinEpoch int32 `json:"min_epoch"`
		MaxEpoch int32 `json:"max_epoch"`
	} `json:"segments"`
}

// readSnapshot gives an empty one where there is none.
func readSnapshot(path string) (s snapshot, err error) {
	there, err := readJSON(path, &s)
	switch {
	case err != nil || !there:
		return snapshot{}, err
	case s.Version != formatVersion:
		return s, whole(path, "it has version %d and this release reads %d", s.Version, formatVersion)
	case s.Start != 0 || s.Epoch != 0 || s.Leader != 0 || s.AbortedTxs != nil || s.StableEnd != s.End:
		return s, whole(path, "it says what was never so")
	}
	return s, nil
}

// sizeOf gives the size that a segment had, or 0.
func (s *snapshot) sizeOf(base int64) int64 {
	for i := range s.Segments {
		if s.Segments[i].Base == base {
			return s.Segments[i].Size
		}
	}
	return 0
}

// fits reports that a log whose segments had these ends, where they have the
// snapshot's sizes, begins with what the snapshot describes.
func (s *snapshot) fits(ends map[int64]int64) bool {
	next := int64(0)
	for _, segment := range s.Segments {
		if segment.Base != next {
			return false
		}
		if segment.Size == 0 { // its first batch found no room on the disk
			continue
		}
		end, there := ends[segment.Base]
		if !there {
			return false
		}
		next = end
	}
	return next == s.End
}
