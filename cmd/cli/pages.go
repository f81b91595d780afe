package cli

import (
	"bytes"
	"encoding/json"
	"net/url"
	"slices"

	"github.com/spf13/cobra"

	"hooklog/transport/client"
)

// list shows all pages of a list as one.
func (s session) list(cmd *cobra.Command, command string, params url.Values, columns []string) error {
	var all [][]byte
	for {
		answer, err := s.Command(cmd.Context(), client.Call{Name: command, Params: params})
		if err != nil {
			return err
		}
		var page struct {
			Items []json.RawMessage
			Next  string
		}
		if err := json.Unmarshal(answer, &page); err != nil {
			return err
		}
		for _, item := range page.Items {
			all = append(all, item)
		}
		if page.Next == "" {
			break
		}
		params.Set("cursor", page.Next)
	}
	// Joined as they came: an encoder would write some characters in another way.
	return s.Value(slices.Concat([]byte("["), bytes.Join(all, []byte(",")), []byte("]")), columns...)
}
