package catalog

// checkpointCommands sign how far the log has come, so that it can be proved
// later that nothing of it was changed.
var checkpointCommands = []Command{
	{
		Name: CheckpointPut, Kind: Change,
		Help: "Signs a checkpoint of all that is on the log now, puts it on svc.checkpoint and into the sink, and returns it.",
	},
	{
		Name: CheckpointGet, Kind: Look,
		Help: "Returns the newest signed checkpoint, and the public key by which it is verified.",
	},
}
