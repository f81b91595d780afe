// Command hooklog is the one binary: it turns signals into the end of a
// context and the outcome into an exit code. Everything else is in cmd/cli.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"hooklog/cmd/cli"
)

func main() {
	ctx, restore := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// After the first signal the default handling is back: a second one ends
	// the process at once.
	context.AfterFunc(ctx, restore)
	os.Exit(cli.Main(ctx, os.Args[1:], os.Stdout, os.Stderr))
}
