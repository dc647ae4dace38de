package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "write what the commands printed into the scripts and the README")

// recorded is where real captures lie, beside the project; they are not a part
// of it, and the scripts that need them are skipped without.
const recorded = "../../../shared/captures"

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"rocescope": main})
}

// TestScripts runs the scripts in testdata, one for each feature. They find the
// recorded captures under $CAPTURES, where there are any.
func TestScripts(t *testing.T) {
	captures, err := filepath.Abs(recorded)
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("CAPTURES", captures)
			e.Setenv("GORACE", "atexit_sleep_ms=0") // else each command waits a second before it ends
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"code": code, "records": records},
		Condition: func(name string) (bool, error) {
			switch name {
			case "captures":
				_, err := os.Stat(filepath.Join(captures, "softroce"))
				return err == nil, nil
			case "root":
				return os.Getuid() == 0, nil
			}
			return false, fmt.Errorf("unknown condition %q", name)
		},
	})
}

// code runs a command and wants an exit code: code 3 rocescope /dev/null. Its
// output is there for the commands stdout and stderr, as after exec.
func code(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N command [argument…]")
	}
	err := ts.Exec(args[1], args[2:]...)
	got := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if fmt.Sprint(got) != args[0] {
		ts.Fatalf("the exit code is %d, not %s", got, args[0])
	}
}

// records writes a capture of a few frames: records FILE. It needs no others.
func records(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: records FILE")
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), smallCapture(), 0o644))
}
