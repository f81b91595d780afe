package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"hooklog/transport/client"
)

// largestPage is the most rows of one answer.
const largestPage = 1000

// list shows all pages of a list as one.
func (s session) list(cmd *cobra.Command, command string, params url.Values, columns []string) error {
	all, _, err := s.rows(cmd, command, params, 0)
	if err != nil {
		return err
	}
	return s.Value(joined(all), columns...)
}

// rows gives the first rows of a list, over as many pages as it takes, and whether
// there are more. A limit of 0 means all of them.
func (s session) rows(cmd *cobra.Command, command string, params url.Values, limit int) (all []json.RawMessage, more bool, err error) {
	for {
		if limit > 0 {
			params.Set("limit", strconv.Itoa(min(limit-len(all), largestPage)))
		}
		answer, err := s.Command(cmd.Context(), client.Call{Name: command, Params: params})
		if err != nil {
			return nil, false, err
		}
		var page struct {
			Items []json.RawMessage
			Next  string
		}
		if err := json.Unmarshal(answer, &page); err != nil {
			return nil, false, err
		}
		all = append(all, page.Items...)
		if page.Next == "" || limit > 0 && len(all) >= limit {
			return all, page.Next != "", nil
		}
		params.Set("cursor", page.Next)
	}
}

// joined makes a JSON array of rows as they came: an encoder would write some
// characters in another way.
func joined(rows []json.RawMessage) json.RawMessage {
	all := make([][]byte, len(rows))
	for i, row := range rows {
		all[i] = row
	}
	return slices.Concat([]byte("["), bytes.Join(all, []byte(",")), []byte("]"))
}

// period are the flags of lists that may be long, the newest first.
type period struct {
	from, to string
	limit    int
	all      bool
}

func newPeriod(cmd *cobra.Command, what string) *period {
	var s period
	flags := cmd.Flags()
	flags.StringVar(&s.from, "from", "", "only "+what+" at this time (RFC 3339) or later")
	flags.StringVar(&s.to, "to", "", "only "+what+" before this time (RFC 3339)")
	flags.IntVar(&s.limit, "limit", 20, "how many, the newest first")
	flags.BoolVar(&s.all, "all", false, "all that there are")
	cmd.MarkFlagsMutuallyExclusive("limit", "all")
	return &s
}

// rows gives the rows that the flags ask for. Whoever reads them on a terminal is
// told when there are more.
func (s period) rows(cmd *cobra.Command, in session, command string, params url.Values) ([]json.RawMessage, error) {
	limit := s.limit
	switch {
	case s.all:
		limit = 0
	case limit < 1:
		return nil, errUsage{errors.New("limit must be 1 or more; --all is for all that there are")}
	}
	for name, value := range map[string]string{"from": s.from, "to": s.to} {
		if value != "" {
			params.Set(name, value)
		}
	}
	stop := in.Progress("reading")
	rows, more, err := in.rows(cmd, command, params, limit)
	stop()
	if more && in.ForPeople() {
		in.Message("there are more; --limit and --all show them")
	}
	return rows, err
}
