// Command rocescope reads RoCEv2 captures and says what is wrong with the
// fabric they came from.
//
// Each subcommand is one file, named after it. Nothing below main touches the
// process: a command gets its arguments, streams and context, and returns an
// error, from which exit.go makes a message and an exit code. So a test runs
// the whole tool like any other function.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	frugal()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// The first interrupt asks for the report so far; a second one ends the
	// program as it would any other.
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
