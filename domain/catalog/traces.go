package catalog

// traceCommands find calls, and show what they brought.
var traceCommands = []Command{
	{
		Name: TraceGet, Kind: Look,
		Help: "Finds calls, newest first, with the times of all that became of them: those of a webhook, those with a trace id, or one by its correlation id.",
		Params: []Param{
			{Name: "last6", Type: String, Help: "The last six characters of a webhook's uuid."},
			{Name: "traceId", Type: String, Help: "The trace id of a call, and of all that it led to."},
			{Name: "correlationId", Type: String, Help: "The correlation id of one call."},
			{Name: "eventKey", Type: String, Help: "Only calls with this event key."},
			{Name: "from", Type: String, Help: "Only calls received at this time or later (RFC 3339)."},
			{Name: "to", Type: String, Help: "Only calls received before this time (RFC 3339)."},
			{Name: "receipt", Type: Boolean, Help: "true adds the proof that the call is on the log; not with last6."},
			{Name: "limit", Type: Integer, Help: "Rows of one answer, 1 to 1000; default 100."},
			{Name: "cursor", Type: String, Help: "The next of the answer before."},
		},
	},
	{
		Name: EventGet, Kind: Look,
		Help:   "Returns the event message of a call, with its payload.",
		Params: []Param{{Name: "correlationId", Type: String, Required: true, Help: "The correlation id of the call."}},
	},
	{
		Name: EventTail, Kind: Look,
		Help: "Returns the calls of an event key that came after a position, with their event messages, and waits for new ones.",
		Params: []Param{
			{Name: "eventKey", Type: String, Required: true, Help: "The event key whose calls to return."},
			{Name: "cursor", Type: String, Help: "The next of the answer before, or start for all that are kept; without it, the answer says where to begin."},
			{Name: "limit", Type: Integer, Help: "Rows of one answer, 1 to 1000; default 100."},
			{Name: "wait", Type: Integer, Help: "Seconds to wait when there is none, 0 to 25; default 0."},
		},
	},
}
