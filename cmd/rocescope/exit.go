package main

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/rocescope/rocescope/decode/capture"
	"github.com/spf13/cobra"
)

// The exit codes of every command.
const (
	// exitRan: the command did what it was asked for, whatever it found.
	exitRan = 0
	// exitUsage: the command line cannot be carried out, because it makes no
	// sense or because its output cannot be written.
	exitUsage = 2
	// exitUnreadable: no input could be opened as a capture; with --strict, one
	// of them could not, or is damaged.
	exitUnreadable = 3
)

// failure is an error for the user: what went wrong, and what to do about it.
type failure struct {
	code    int
	message string
	hint    string // empty where the message says enough
}

func (f *failure) Error() string { return f.message }

// errNothingToDo ends a call without arguments, once the help has been shown.
var errNothingToDo = &failure{code: exitUsage}

// usage is the failure of a command line that makes no sense.
func usage(hint, format string, args ...any) error {
	return &failure{exitUsage, fmt.Sprintf(format, args...), hint}
}

// exit tells the user about err, and returns the exit code for it. Errors that
// are no failure come from the parser of command lines, or from writing.
func (a *app) exit(cmd *cobra.Command, err error) int {
	if err == nil {
		return exitRan
	}
	var f *failure
	if !errors.As(err, &f) {
		f = &failure{exitUsage, firstLine(err), fmt.Sprintf("%s --help shows what can be asked for", cmd.CommandPath())}
	}
	if f.message != "" {
		a.tell(f.message, f.hint)
	}
	return f.code
}

// tell writes a message, and a hint below it, for the user.
func (a *app) tell(message, hint string) {
	fmt.Fprintf(a.stderr, "rocescope: %s\n", printable(message))
	if hint != "" {
		fmt.Fprintf(a.stderr, "rocescope: hint: %s\n", printable(hint))
	}
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

// printable replaces what would move the cursor or change colours: a file's
// name may hold any bytes.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 {
			return '?'
		}
		return r
	}, s)
}

// The errors met in opening an input.
var (
	errTerminal  = errors.New("standard input is a terminal, and no capture comes from there")
	errDirectory = errors.New("it is a directory")
)

// unopened says why an input could not be opened.
func unopened(name string, err error) *failure {
	f := &failure{code: exitUnreadable}
	var format *capture.FormatError
	switch {
	case errors.Is(err, errTerminal):
		f.message, f.hint = err.Error(), "send one through a pipe: tcpdump -i eth0 -w - udp port 4791 | rocescope -r -"
	case errors.Is(err, errDirectory):
		f.message, f.hint = name+" is a directory", fmt.Sprintf("name the captures in it, as in %s/*.pcap*", strings.TrimRight(name, "/"))
	case interrupted(err):
		f.message = "interrupted before a capture came from " + called(name)
	case errors.As(err, &format):
		f.message, f.hint = fmt.Sprintf("%s is no capture: %s", called(name), format.Looks), format.Hint
	case errors.Is(err, fs.ErrNotExist):
		f.message, f.hint = "there is no file "+name, missing(name)
	case errors.Is(err, fs.ErrPermission):
		f.message, f.hint = "no permission to read "+name, "captures often belong to root: have it read with sudo, or have its owner change its mode"
	default:
		f.message = fmt.Sprintf("%s cannot be read: %v", called(name), err)
	}
	return f
}

// missing guesses what was meant by a file that does not exist.
func missing(name string) string {
	switch {
	case strings.ContainsAny(name, "*?["):
		return "the pattern matches no file here"
	case !strings.ContainsAny(name, "./\\"):
		return "nor is it a command; rocescope --help lists those"
	}
	return "look at the path; it is taken from the present directory"
}

// called is what messages call an input.
func called(name string) string {
	if name == "-" {
		return "standard input"
	}
	return name
}
