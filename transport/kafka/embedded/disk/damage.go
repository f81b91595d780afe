package disk

import "fmt"

// Damage is why a folder is refused.
type Damage struct {
	File string
	// At is the byte in the file, or -1 where it is about the whole file.
	At     int64
	Reason string
	// Shorter says that only an end is missing: what is left is in order, and
	// can be gone on with by whoever accepts the loss.
	Shorter bool

	remedy string // in place of the usual one
}

// Error names the file, the place, the reason and what to do now.
func (d *Damage) Error() string {
	return fmt.Sprintf("the log is not in order and was left as it is: %s; %s", d.Place(), d.Remedy())
}

// Place is the file, the place in it, and what is wrong there.
func (d *Damage) Place() string {
	if d.At >= 0 {
		return fmt.Sprintf("%s at byte %d: %s", d.File, d.At, d.Reason)
	}
	return d.File + ": " + d.Reason
}

// Remedy is what to do now.
func (d *Damage) Remedy() string {
	remedy := "restore the data folder from a backup"
	switch {
	case d.remedy != "":
		remedy = d.remedy
	case d.Shorter:
		remedy += ", or go on without what is missing: hooklog rebuild --accept-truncation"
	}
	return remedy
}

func whole(file, reason string, args ...any) *Damage {
	return &Damage{File: file, At: -1, Reason: fmt.Sprintf(reason, args...)}
}

func at(file string, pos int64, reason string, args ...any) *Damage {
	return &Damage{File: file, At: pos, Reason: fmt.Sprintf(reason, args...)}
}

// shorter marks the damage as the loss of an end.
func (d *Damage) shorter() *Damage {
	d.Shorter = true
	return d
}

// foreign is a file that the broker does not know.
func foreign(file string) *Damage {
	return &Damage{File: file, At: -1, Reason: "it is no file of the broker", remedy: "move it out of the data folder"}
}
