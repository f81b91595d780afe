// Command hooklog is the one binary: it turns signals into the end of a
// context and the outcome into an exit code. Everything else is in cmd/cli.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"hooklog/cmd/cli"
)

// gcPercent trades memory, of which the service needs little, for processor time:
// it makes much garbage for each call and keeps none of it.
const gcPercent = 400

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	ctx, restore := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// After the first signal the default handling is back: a second one ends
	// the process at once.
	context.AfterFunc(ctx, restore)
	os.Exit(cli.Main(ctx, os.Args[1:], os.Stdout, os.Stderr))
}
