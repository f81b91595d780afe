package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"hooklog/domain/audit"
)

// auditEntry is an entry of the audit with what changed as members.
type auditEntry struct {
	audit.Entry
	Before map[string]json.RawMessage `json:"before"`
	After  map[string]json.RawMessage `json:"after"`
}

// bookkeeping are the members that say again who did it, and when.
var bookkeeping = []string{"created", "createdBy", "updated", "updatedBy"}

func (e auditEntry) row() auditRow {
	row := auditRow{
		Time: e.Time.UTC().Format(shownTime), Who: first(e.PrincipalName, e.Principal), Command: e.Command,
		About:   first(e.EventKey, e.Pipeline, e.Entry.User, e.ClientID, e.Rule, e.SigningKey, strings.Join(e.Keys, ",")),
		Outcome: e.Outcome, Change: e.change(),
	}
	if e.Effective != "" && e.Effective != e.Principal {
		row.Who += " as " + e.Effective
	}
	switch {
	case e.Outcome != audit.OK:
		row.Change = e.Detail
	case e.Repeat:
		row.Change = "a repeat: nothing was done"
	}
	return row
}

// change tells member by member what was before and what is after.
func (e auditEntry) change() string {
	names := slices.Concat(slices.Collect(maps.Keys(e.Before)), slices.Collect(maps.Keys(e.After)))
	slices.Sort(names)
	var parts []string
	for _, name := range slices.Compact(names) {
		before, after := e.Before[name], e.After[name]
		switch {
		case slices.Contains(bookkeeping, name) || bytes.Equal(before, after):
		case e.Before == nil:
			parts = append(parts, name+" "+short(after))
		case e.After == nil:
			parts = append(parts, name+" "+short(before))
		default:
			parts = append(parts, fmt.Sprintf("%s %s → %s", name, short(before), short(after)))
		}
	}
	change := strings.Join(parts, ", ")
	switch {
	case change == "":
		return ""
	case e.Before == nil:
		return "new: " + change
	case e.After == nil:
		return "deleted: " + change
	}
	return change
}

// short is a value without the quotes of a text.
func short(value json.RawMessage) string {
	if len(value) == 0 {
		return "-"
	}
	var text string
	if json.Unmarshal(value, &text) == nil {
		return text
	}
	return string(value)
}
