package catalog

// auditCommands tell who did what.
var auditCommands = []Command{
	{
		Name: AuditGet, Kind: Look,
		Help: "Lists who did what: commands, looks and log-ins, newest first.",
		Params: append(auditFilter(),
			Param{Name: "limit", Type: Integer, Help: "Rows of one answer, 1 to 1000; default 100."},
			Param{Name: "cursor", Type: String, Help: "The next of the answer before."},
		),
	},
	{
		Name: AuditExport, Kind: Look,
		Help:   "Streams who did what as JSON Lines, oldest first.",
		Params: auditFilter(),
	},
}

// auditFilter narrows both commands.
func auditFilter() []Param {
	return []Param{
		{Name: "from", Type: String, Help: "Only what was done at this time (RFC 3339) or later."},
		{Name: "to", Type: String, Help: "Only what was done before this time (RFC 3339)."},
		{Name: "user", Type: String, Help: "Only what this user did, as principal, as effective user or as the owner of a pipeline."},
		{Name: "command", Type: String, Help: "Only this command; login for log-ins."},
		{Name: "webhook", Type: String, Help: "Only what was done to this webhook, by its event key or by the last 6 characters of its uuid."},
		{Name: "outcome", Type: String, Help: "Only what came to this: ok, or the name of a problem such as forbidden."},
	}
}
