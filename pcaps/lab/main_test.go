package main

import (
	"strings"
	"testing"
)

func TestTheCommandSaysWhatItWants(t *testing.T) {
	for _, args := range [][]string{nil, {"play"}, {"record", "lab-nothing"}, {"record", "-dir", "nowhere", "lab-rnr"}} {
		if err := run(t.Context(), args, new(strings.Builder)); err == nil {
			t.Errorf("%q is no error", args)
		}
	}
}

func TestListNamesAndExplains(t *testing.T) {
	var out strings.Builder
	if err := run(t.Context(), []string{"list"}, &out); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "lab-clean-rc                 every operation of RC") {
		t.Errorf("the list is\n%s", out.String())
	}
}

func TestMissingProgramsAreNamedWithTheirPackages(t *testing.T) {
	err := missing(need{"sh", "dash"}, need{"no-such-program", "some-package"}, need{"/no/such/file", "another"})
	if err == nil || err.Error() != "not found: no-such-program, /no/such/file; try: apt-get install some-package another" {
		t.Errorf("the error is %v", err)
	}
	if err := missing(need{"sh", "dash"}); err != nil {
		t.Error(err)
	}
}

func TestTailOfAText(t *testing.T) {
	if got := tail("a\nb\nc\n", 2); got != "b\nc" {
		t.Errorf("the last two lines are %q", got)
	}
}
