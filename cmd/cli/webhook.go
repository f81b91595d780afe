package cli

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"hooklog/domain/catalog"
	"hooklog/domain/secret"
	"hooklog/domain/webhook"
)

func newWebhook() *cobra.Command {
	cmd := group(&cobra.Command{
		Use:   "webhook",
		Short: "Make, change and try webhooks",
		Long: `Make, change and try webhooks. A webhook is named by its event key, by the last
six characters of its token, or by the token itself. Tables show no token but
where it is what was asked for: create and url.`,
		Example: `  hooklog webhook list
  hooklog webhook test webhook.orders --data '{"order":1}'`,
	})
	r := newRemote(cmd)
	cmd.AddCommand(
		newWebhookList(r), newWebhookCreate(r), newWebhookEdit(r), newWebhookTest(r), newWebhookTail(r),
		webhookVerb(r, "delete", "Delete a webhook; its URL stops to work", func(cmd *cobra.Command, s session, w webhookRecord) error {
			return s.changed(cmd, catalog.WebhookDelete, "uuid", w.UUID)
		}),
		webhookVerb(r, "enable", "Let a webhook take calls again", func(cmd *cobra.Command, s session, w webhookRecord) error {
			return s.changed(cmd, catalog.WebhookPut, "uuid", w.UUID, "enabled", "true")
		}),
		webhookVerb(r, "disable", "Refuse calls of a webhook, and keep its URL for later", func(cmd *cobra.Command, s session, w webhookRecord) error {
			return s.changed(cmd, catalog.WebhookPut, "uuid", w.UUID, "enabled", "false")
		}),
		webhookVerb(r, "url", "Show the secret URL of a webhook, on the record", func(_ *cobra.Command, s session, w webhookRecord) error {
			answer, err := json.Marshal(struct {
				WebhookURL string `json:"webhookUrl"`
			}{w.WebhookURL})
			if err != nil {
				return err
			}
			return s.Text(answer, w.WebhookURL)
		}),
	)
	return cmd
}

// webhookRecord is what verbs need of a webhook.
type webhookRecord struct{ EventKey, UUID, Last6, WebhookURL string }

func (w webhookRecord) last6() string {
	if len(w.UUID) > 6 {
		return w.UUID[len(w.UUID)-6:]
	}
	return w.Last6
}

// webhookVerb is one that needs nothing but a webhook.
func webhookVerb(r *remote, name, short string, work func(*cobra.Command, session, webhookRecord) error) *cobra.Command {
	return &cobra.Command{
		Use: name + " WEBHOOK", Short: short, Args: cobra.ExactArgs(1),
		Example:           "  hooklog webhook " + name + " webhook.orders",
		ValidArgsFunction: firstArgument(r.eventKeys),
		RunE: r.runs(func(cmd *cobra.Command, args []string, s session) error {
			w, err := s.webhook(cmd, args[0])
			if err != nil {
				return err
			}
			return work(cmd, s, w)
		}),
	}
}

// webhook finds a webhook with its token, which is on the record.
func (s session) webhook(cmd *cobra.Command, name string) (webhookRecord, error) {
	var w webhookRecord
	if _, err := secret.ParseToken(name); err == nil {
		answer, err := s.ask(cmd, catalog.WebhookGet, "uuid", name)
		if err != nil {
			return w, err
		}
		err = json.Unmarshal(answer, &w)
		return w, err
	}
	answer, err := s.ask(cmd, catalog.WebhookGet)
	if err != nil {
		return w, err
	}
	var all []webhookRecord
	if err := json.Unmarshal(answer, &all); err != nil {
		return w, err
	}
	return named(name, all)
}

// listed finds a webhook without its token.
func (s session) listed(cmd *cobra.Command, name string) (webhookRecord, error) {
	rows, _, err := s.rows(cmd, catalog.WebhookList, url.Values{}, 0)
	if err != nil {
		return webhookRecord{}, err
	}
	var all []webhookRecord
	if err := json.Unmarshal(joined(rows), &all); err != nil {
		return webhookRecord{}, err
	}
	if token, err := secret.ParseToken(name); err == nil {
		name = token.Last6()
	}
	return named(name, all)
}

// named finds the webhook that has the event key, or the end of the token.
func named(name string, all []webhookRecord) (w webhookRecord, err error) {
	var keys, fitting []string
	for _, each := range all {
		keys = append(keys, each.EventKey)
		if each.EventKey == name || each.last6() == name {
			w = each
			fitting = append(fitting, each.EventKey)
		}
	}
	switch {
	case len(fitting) > 1:
		return w, errUsage{fmt.Errorf("%s may be %s; name it by its event key", name, strings.Join(fitting, " or "))}
	case len(fitting) == 1:
		return w, nil
	}
	hint := "hooklog webhook list shows those that there are"
	if meant := near(name, keys); len(meant) > 0 {
		hint = "did you mean " + strings.Join(meant, " or ") + "?"
	}
	return w, fmt.Errorf("there is no webhook %q that you may use; %s", name, hint)
}

// changed runs a command and shows what became of its webhook, in tables
// without the token.
func (s session) changed(cmd *cobra.Command, command string, params ...string) error {
	answer, err := s.ask(cmd, command, params...)
	if err != nil {
		return err
	}
	return s.Value(answer, webhookColumns...)
}

func newWebhookList(r *remote) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the webhooks, without their tokens", Args: cobra.NoArgs,
		Example: `  hooklog webhook list
  hooklog webhook list -o json`,
		RunE: r.runs(func(cmd *cobra.Command, _ []string, s session) error {
			return s.list(cmd, catalog.WebhookList, url.Values{}, webhookColumns)
		}),
	}
}

// fields are the settings of a webhook, as flags give them.
type fields struct {
	payloadType string
	maxLength   int
}

func newFields(cmd *cobra.Command) *fields {
	var f fields
	cmd.Flags().StringVar(&f.payloadType, "payload-type", "", "how the payload travels: raw, base64 or ignore")
	cmd.Flags().IntVar(&f.maxLength, "max-payload-length", 0, "largest accepted payload in bytes, 1 to 4194304")
	fixed(cmd, "payload-type", webhook.PayloadTypes)
	return &f
}

func (f fields) params() []string {
	params := []string{"payloadType", f.payloadType}
	if f.maxLength != 0 {
		params = append(params, "maxPayloadLength", strconv.Itoa(f.maxLength))
	}
	return params
}

func newWebhookCreate(r *remote) *cobra.Command {
	cmd := &cobra.Command{
		Use: "create EVENT_KEY", Short: "Create a webhook, and show its secret URL", Args: cobra.ExactArgs(1),
		Example: `  hooklog webhook create webhook.invoices
  hooklog webhook create webhook.photos --payload-type raw --max-payload-length 4194304`,
	}
	f := newFields(cmd)
	cmd.RunE = r.runs(func(cmd *cobra.Command, args []string, s session) error {
		answer, err := s.ask(cmd, catalog.WebhookPut, append(f.params(), "eventKey", args[0])...)
		if err != nil {
			return err
		}
		return s.Value(answer)
	})
	return cmd
}

func newWebhookEdit(r *remote) *cobra.Command {
	cmd := &cobra.Command{
		Use: "edit WEBHOOK", Short: "Change a webhook; what is not given stays", Args: cobra.ExactArgs(1),
		Example:           `  hooklog webhook edit webhook.orders --payload-type raw`,
		ValidArgsFunction: firstArgument(r.eventKeys),
	}
	f := newFields(cmd)
	key := cmd.Flags().String("event-key", "", "new event key")
	cmd.RunE = r.runs(func(cmd *cobra.Command, args []string, s session) error {
		w, err := s.webhook(cmd, args[0])
		if err != nil {
			return err
		}
		return s.changed(cmd, catalog.WebhookPut, append(f.params(), "eventKey", *key, "uuid", w.UUID)...)
	})
	return cmd
}

func newWebhookTest(r *remote) *cobra.Command {
	cmd := &cobra.Command{
		Use: "test WEBHOOK", Short: "Call a webhook, and show the result", Args: cobra.ExactArgs(1),
		Example: `  hooklog webhook test webhook.orders --data '{"order":1}'
  hooklog webhook test webhook.orders --data @order.json --wait`,
		ValidArgsFunction: firstArgument(r.eventKeys),
	}
	body := newPayload(cmd)
	wait := cmd.Flags().Bool("wait", false, "wait for the final result")
	cmd.RunE = r.runs(func(cmd *cobra.Command, args []string, s session) error {
		w, err := s.webhook(cmd, args[0])
		if err != nil {
			return err
		}
		return s.call(cmd, *body, url.Values{"token": {w.UUID}, "pollingRedirectEnabled": {strconv.FormatBool(*wait)}})
	})
	return cmd
}
