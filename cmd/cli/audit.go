package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/url"

	"github.com/spf13/cobra"

	"hooklog/cmd/cli/output"
	"hooklog/domain/catalog"
	"hooklog/transport/client"
)

func newAudit() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "See who did what, and what it changed",
		Example: `  hooklog audit --webhook webhook.orders
  hooklog audit --user alice --outcome forbidden --limit 5
  hooklog audit --command login --all -o json`,
		Args: cobra.NoArgs,
	}
	r := newRemote(cmd)
	filter := newAuditFilter(cmd, r)
	when := newPeriod(cmd, "what was done")
	cmd.RunE = r.runs(func(cmd *cobra.Command, _ []string, s session) error {
		rows, err := when.rows(cmd, s, catalog.AuditGet, filter.params())
		if err != nil {
			return err
		}
		if !s.ForPeople() {
			return s.Value(joined(rows))
		}
		return s.auditTable(rows)
	})
	cmd.AddCommand(newAuditExport(r))
	return cmd
}

// auditFilter narrows both verbs.
type auditFilter struct{ user, command, webhook, outcome string }

func newAuditFilter(cmd *cobra.Command, r *remote) *auditFilter {
	var f auditFilter
	flags := cmd.Flags()
	flags.StringVar(&f.user, "user", "", "only what this user did, also by a pipeline")
	flags.StringVar(&f.command, "command", "", "only this command; login for log-ins")
	flags.StringVar(&f.webhook, "webhook", "", "only what was done to this webhook, by its event key or the last 6 characters of its token")
	flags.StringVar(&f.outcome, "outcome", "", "only what came to this: ok, or the kind of a problem, such as forbidden")
	complete(cmd, "webhook", r.eventKeys)
	complete(cmd, "user", func(ctx context.Context) []string { return r.names(ctx, catalog.UserGet, "username") })
	complete(cmd, "command", func(context.Context) []string { return commandNames() })
	return &f
}

func commandNames() []string {
	var names []string
	for _, c := range catalog.All() {
		names = append(names, c.Name)
	}
	return names
}

func (f auditFilter) params() url.Values {
	params := url.Values{}
	for name, value := range map[string]string{"user": f.user, "command": f.command, "webhook": f.webhook, "outcome": f.outcome} {
		if value != "" {
			params.Set(name, value)
		}
	}
	return params
}

func newAuditExport(r *remote) *cobra.Command {
	cmd := &cobra.Command{
		Use: "export", Short: "Write who did what as JSON Lines, the oldest first", Args: cobra.NoArgs,
		Long: `Write who did what as JSON Lines, the oldest first, to the standard output or to
a file. The file is there when all of it is written, and not before. A stream
that breaks off is an error: the exit code is 4 then.`,
		Example: `  hooklog audit export > audit.jsonl
  hooklog audit export --command policy.put --from 2026-01-01T00:00:00Z --file rules.jsonl`,
	}
	filter := newAuditFilter(cmd, r)
	from := cmd.Flags().String("from", "", "only what was done at this time (RFC 3339) or later")
	to := cmd.Flags().String("to", "", "only what was done before this time (RFC 3339)")
	path := cmd.Flags().StringP("file", "f", "", "file to write, in place of the standard output")
	cmd.RunE = r.runs(func(cmd *cobra.Command, _ []string, s session) error {
		params := filter.params()
		for name, value := range map[string]string{"from": *from, "to": *to} {
			if value != "" {
				params.Set(name, value)
			}
		}
		if *path == "" {
			return s.export(cmd, params)
		}
		return createFile(*path, func(w io.Writer) error {
			s.Out = w
			return s.export(cmd, params)
		})
	})
	return cmd
}

// export writes a stream as it comes. Lines on a terminal are progress enough.
func (s session) export(cmd *cobra.Command, params url.Values) (err error) {
	if !output.IsTerminal(s.Out) {
		defer s.Progress("exporting")()
	}
	answer, err := s.Open(cmd.Context(), client.Call{Name: catalog.AuditExport, Params: params})
	if err != nil {
		return err
	}
	out := bufio.NewWriter(s.Out)
	s.Out = out
	count := 0
	for line, err := range answer.Lines() {
		if err == nil {
			err = s.Line(line)
		}
		if err != nil {
			_ = out.Flush()
			return fmt.Errorf("the export is not whole, it ended after %d entries: %w", count, err)
		}
		count++
	}
	return out.Flush()
}

// auditRow is an entry as people read it.
type auditRow struct {
	Time    string `json:"time"`
	Who     string `json:"who"`
	Command string `json:"command"`
	About   string `json:"about"`
	Outcome string `json:"outcome"`
	Change  string `json:"change,omitempty"`
}

func (s session) auditTable(rows []json.RawMessage) error {
	shown := make([]auditRow, len(rows))
	for i, row := range rows {
		var e auditEntry
		if err := json.Unmarshal(row, &e); err != nil {
			return err
		}
		shown[i] = e.row()
	}
	table, err := json.Marshal(shown)
	if err != nil {
		return err
	}
	return s.Value(table, "time", "who", "command", "about", "outcome", "change")
}
