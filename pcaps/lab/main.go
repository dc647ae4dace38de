// Command lab records real RoCEv2 traffic without RDMA hardware: the kernel's
// Soft-RoCE in a small virtual machine, hosts and switches in its network
// namespaces, faults by tc, taps wherever one likes.
//
//	go run ./pcaps/lab build
//	go run ./pcaps/lab record [-o DIR] [-samples DIR] [NAME...]
//	go run ./pcaps/lab list
//
// What is recorded is described in the file scenarios; what the kernel and tc
// counted meanwhile becomes the truth beside the captures. README.md says more.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"path/filepath"
)

func main() {
	log.SetFlags(0)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		log.Fatalf("lab: %v", err)
	}
}

var errUsage = errors.New("say one of: build, record [-o DIR] [-samples DIR] [NAME...], list")

// run is the command.
func run(ctx context.Context, args []string, out io.Writer) error {
	if len(args) == 0 {
		return errUsage
	}
	l := &lab{out: out}
	f := flag.NewFlagSet(args[0], flag.ContinueOnError)
	f.StringVar(&l.dir, "dir", defaultDir(), "`folder` of the guest: packages, disk, kernel")
	results := f.String("o", "", "`folder` for what is recorded (default: captures, in the folder of the guest)")
	samples := f.String("samples", "", "`folder` for the samples among it, each with a short truth")
	if err := f.Parse(args[1:]); err != nil {
		return err
	}
	if *results == "" {
		*results = l.path("captures")
	}
	switch args[0] {
	case "build":
		return l.build(ctx)
	case "record":
		return l.record(ctx, *results, *samples, f.Args())
	case "list":
		return list(out)
	}
	return errUsage
}

// A lab is where the guest lies, and where to say what happens.
type lab struct {
	dir string
	out io.Writer
}

func (l *lab) path(parts ...string) string {
	return filepath.Join(append([]string{l.dir}, parts...)...)
}

func (l *lab) say(format string, args ...any) { fmt.Fprintf(l.out, format+"\n", args...) }

// list prints every scenario with what it is about.
func list(out io.Writer) error {
	all, err := scenarios()
	for _, s := range all {
		fmt.Fprintf(out, "%-28s %s\n", s.Name, s.About)
	}
	return err
}
