package cli

import (
	"encoding/json"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"hooklog/domain/catalog"
	"hooklog/domain/secret"
	"hooklog/transport/client"
)

// payload is the body of a call, as flags give it.
type payload struct{ data, contentType string }

func newPayload(cmd *cobra.Command) *payload {
	var p payload
	cmd.Flags().StringVarP(&p.data, "data", "d", "", "body of the call: a text, @file, or @- for the standard input")
	cmd.Flags().StringVar(&p.contentType, "content-type", "", "type of the body; default application/json where it is JSON, else application/octet-stream")
	return &p
}

func (p payload) read(cmd *cobra.Command) (client.Payload, error) {
	content := []byte(p.data)
	if path, isFile := strings.CutPrefix(p.data, "@"); isFile {
		var err error
		if content, err = (&input{cmd: cmd}).content(path); err != nil {
			return client.Payload{}, errUsage{err}
		}
	}
	kind := p.contentType
	switch {
	case kind != "":
	case json.Valid(content):
		kind = "application/json"
	default:
		kind = "application/octet-stream"
	}
	return client.Payload{ContentType: kind, Content: content}, nil
}

// newReceive is the one command of the catalog that is no management: a call.
func newReceive(r *remote, c catalog.Command) *cobra.Command {
	cmd := describe(c)
	body := newPayload(cmd)
	cmd.ValidArgsFunction = r.completeParameters(c)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		params, err := arguments(cmd, c, args)
		if err != nil {
			return err
		}
		s, err := r.openForAnybody(cmd)
		if err != nil {
			return err
		}
		return s.call(cmd, *body, params)
	}
	return cmd
}

// call calls a webhook and shows the result: the first one, or with
// pollingRedirectEnabled the final one.
func (s session) call(cmd *cobra.Command, body payload, params url.Values) error {
	content, err := body.read(cmd)
	if err != nil {
		return err
	}
	token, err := secret.ParseToken(params.Get("token"))
	if err != nil {
		return errUsage{err}
	}
	result, err := s.Receive(cmd.Context(), token, content)
	if err != nil {
		return err
	}
	if params.Get("pollingRedirectEnabled") != "true" {
		return s.Value(result)
	}
	var accepted struct{ CorrelationID, Status string }
	if err := json.Unmarshal(result, &accepted); err != nil {
		return err
	}
	if accepted.Status != "processing" {
		return s.Value(result)
	}
	return s.await(cmd, accepted.CorrelationID)
}

// await shows the result of a call when there is one.
func (s session) await(cmd *cobra.Command, correlationID string) error {
	stop := s.Progress("waiting for the result")
	result, err := s.Wait(cmd.Context(), correlationID)
	stop()
	if err != nil {
		return err
	}
	return s.Value(result)
}
