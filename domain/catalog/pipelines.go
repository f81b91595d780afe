package catalog

// pipelineCommands keep pipelines, run them and show what became of their runs.
var pipelineCommands = []Command{
	{
		Name: PipelinePut, Kind: Change,
		Help: "Stores a pipeline under a name, in place of the one that has it. Whoever puts it owns it: the rights to what it listens to, and to whom it runs as, are the owner's.",
		Params: []Param{
			{Name: "name", Type: String, Required: true, Help: "Name of the pipeline: lower-case letters and digits in groups, separated by dots or hyphens."},
			{Name: "body", Type: String, Required: true, Help: "The pipeline itself as YAML, at most 256 KiB."},
			{Name: "version", Type: Integer, Help: "Expected version of the pipeline to replace; another one is answered 409."},
		},
	},
	{
		Name: PipelineGet, Kind: RegistryRead,
		Help: "Lists the pipelines without their bodies, or with name returns that one with its body.",
		Params: []Param{
			{Name: "name", Type: String, Help: "Name of the pipeline to return."},
			{Name: "version", Type: Integer, Help: "Version to return, also one that was replaced or deleted; default the latest."},
			{Name: "limit", Type: Integer, Help: "Rows of one answer, 1 to 1000; default 100."},
			{Name: "cursor", Type: String, Help: "The next of the answer before."},
		},
	},
	{
		Name: PipelineDelete, Kind: Change,
		Help:   "Deletes the pipeline of that name. Calls that were accepted before still run it.",
		Params: []Param{{Name: "name", Type: String, Required: true, Help: "Name of the pipeline to delete."}},
	},
	{
		Name: PipelineRun, Kind: Change,
		Help: "Runs the latest version of a pipeline once, as the caller, and answers its final body.",
		Params: []Param{
			{Name: "name", Type: String, Required: true, Help: "Name of the pipeline to run."},
			{Name: "body", Type: String, Help: "What the pipeline begins with, as JSON; default null."},
		},
	},
	{
		Name: RunGet, Kind: Look,
		Help: "Lists the runs of pipelines, newest first.",
		Params: []Param{
			{Name: "correlationId", Type: String, Help: "Only the runs of this call."},
			{Name: "pipeline", Type: String, Help: "Only the runs of this pipeline."},
			{Name: "status", Type: String, Enum: []string{"processing", "ok", "error"}, Help: "Only runs of this status: processing, ok or error."},
			{Name: "from", Type: String, Help: "Only calls received at this time (RFC 3339) or later."},
			{Name: "to", Type: String, Help: "Only calls received before this time (RFC 3339)."},
			{Name: "limit", Type: Integer, Help: "Rows of one answer, 1 to 1000; default 100."},
			{Name: "cursor", Type: String, Help: "The next of the answer before."},
		},
	},
	{
		Name: RunRetry, Kind: Change,
		Help: "Runs the pipelines of a call once more that failed.",
		Params: []Param{
			{Name: "correlationId", Type: String, Required: true, Help: "The call whose pipelines are to run once more."},
			{Name: "pipeline", Type: String, Help: "Only this pipeline; default all that failed."},
		},
	},
}
