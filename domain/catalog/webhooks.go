package catalog

import "hooklog/domain/webhook"

var webhookCommands = []Command{
	{
		Name: WebhookPut, Kind: Change,
		Help: "Creates a webhook, or with uuid edits the one that has that token.",
		Params: []Param{
			{Name: "uuid", Type: Token, Help: "Token of the webhook to edit; absent to create one."},
			{Name: "eventKey", Type: String, Help: "Unique name and key that pipelines listen to, such as webhook.orders. Required to create."},
			{Name: "payloadType", Type: String, Alias: "payloadHandling", Enum: webhook.PayloadTypes, Help: "How the payload travels: raw, base64 (default) or ignore."},
			{Name: "maxPayloadLength", Type: Integer, Help: "Largest accepted payload in bytes, 1 to 4194304; default 512000."},
			{Name: "enabled", Type: Boolean, Help: "false answers callers as if the token were unknown; default true."},
			{Name: "version", Type: Integer, Help: "Expected version of the webhook to edit; another one is answered 409."},
		},
	},
	{
		Name: WebhookGet, Kind: RegistryRead,
		Help: "Returns all webhooks with their tokens, or with uuid that one, as it is or as it was.",
		Params: []Param{
			{Name: "uuid", Type: Token, Help: "Token of the webhook to return."},
			{Name: "at", Type: String, Help: "A time (RFC 3339) or an offset of svc.command: the webhook as it was then, also one that was deleted since."},
		},
	},
	{
		Name: WebhookList, Kind: Look,
		Help: "Lists the webhooks without their tokens.",
		Params: []Param{
			{Name: "limit", Type: Integer, Help: "Rows of one answer, 1 to 1000; default 100."},
			{Name: "cursor", Type: String, Help: "The next of the answer before."},
		},
	},
	{
		Name: WebhookDelete, Kind: Change,
		Help:   "Deletes the webhook with that token.",
		Params: []Param{{Name: "uuid", Type: Token, Required: true, Help: "Token of the webhook to delete."}},
	},
	{
		Name: WebhookReceive, Kind: Receive,
		Help: "Takes a webhook call: puts it on the log and answers with the result JSON.",
		Params: []Param{
			{Name: "token", Type: Token, Required: true, Help: "Token of the webhook: header (recommended), query, or body of a POST."},
			{Name: "pollingRedirectEnabled", Type: Boolean, Help: "true answers with a redirect to the result endpoint; default false."},
		},
	},
}
