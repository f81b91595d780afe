package commands

import (
	"encoding/base64"

	"hooklog/domain/catalog"
	"hooklog/domain/fault"
)

const (
	defaultPage = 100
	maxPage     = 1000
)

// Page is the answer of every command that lists; Next is the cursor of the rest.
type Page[T any] struct {
	Items []T    `json:"items"`
	Next  string `json:"next,omitempty"`
}

// pageOf shows all rows on one page.
func pageOf[Row, Shown any](rows []Row, show func(Row) Shown) Page[Shown] {
	page := Page[Shown]{Items: make([]Shown, len(rows))}
	for i, row := range rows {
		page.Items[i] = show(row)
	}
	return page
}

// pageUpTo shows the rows up to the limit. Whoever read the rows asked for one
// more, which is how a page knows that it is not the last.
func pageUpTo[Row, Shown any](limit int, rows []Row, key func(Row) string, show func(Row) Shown) Page[Shown] {
	if len(rows) <= limit {
		return pageOf(rows, show)
	}
	page := pageOf(rows[:limit], show)
	page.Next = cursor(key(rows[limit-1]))
	return page
}

// asked reads the parameters limit and cursor: how many rows the caller wants,
// and the key of the row that they come after.
func asked(req Request) (after string, limit int, err error) {
	if limit, err = limitOf(req); err != nil {
		return "", 0, err
	}
	if given := catalog.Arg[string](req.Args, "cursor"); given != nil {
		key, err := base64.RawURLEncoding.DecodeString(*given)
		if err != nil || len(key) == 0 {
			return "", 0, fault.New(fault.Invalid, "cursor must be the next of an answer of %s.", req.Command.Name)
		}
		after = string(key)
	}
	return after, limit, nil
}

func limitOf(req Request) (int, error) {
	limit := defaultPage
	if given := catalog.Arg[int](req.Args, "limit"); given != nil {
		limit = *given
	}
	if limit < 1 || limit > maxPage {
		return 0, fault.New(fault.Invalid, "limit must lie between 1 and %d.", maxPage)
	}
	return limit, nil
}

// cursor is the last key of a page. It is encoded so that nobody builds one.
func cursor(key string) string { return base64.RawURLEncoding.EncodeToString([]byte(key)) }
