package main

import (
	"bytes"
	"context"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/rocescope/rocescope/analysis/detect"
)

const readme = "../../README.md"

// TestReadmeShowsRealOutput runs the README's first command and holds its
// output against what the README shows.
func TestReadmeShowsRealOutput(t *testing.T) {
	text, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)```\n\\$ go run ./cmd/rocescope ([^\n]*)\n(.*?)```").FindSubmatchIndex(text)
	if block == nil {
		t.Fatal("README.md has no example that begins with $ go run ./cmd/rocescope")
	}
	args := strings.Fields(string(text[block[2]:block[3]]))
	t.Chdir("../..")
	var stdout, stderr bytes.Buffer
	if code := run(context.Background(), args, nil, &stdout, &stderr); code != exitRan || stderr.Len() > 0 {
		t.Fatalf("exit code %d, and says:\n%s", code, &stderr)
	}
	if *update {
		out := string(text[:block[4]]) + stdout.String() + string(text[block[5]:])
		if err := os.WriteFile("README.md", []byte(out), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if shown := string(text[block[4]:block[5]]); shown != stdout.String() {
		t.Errorf("README.md shows\n%s\nand the command prints\n%s\nIf it should, run go test ./cmd/rocescope -update", shown, &stdout)
	}
}

var ruleName = regexp.MustCompile("\"((?:[a-z]+)\\.[a-z-]+)\"")

// TestReadmeListsEveryRule holds the README's table against the rules that the
// analyzers' sources name.
func TestReadmeListsEveryRule(t *testing.T) {
	text, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	families := map[string]bool{}
	for _, a := range detect.All() {
		families[a.Name] = true
	}
	for _, more := range []string{"peer", "ecn", "cnp", "icrc", "uet", "pause"} { // families that have no analyzer of their name
		families[more] = true
	}
	files, err := os.ReadDir("../../analysis/detect")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, f := range files {
		if strings.HasSuffix(f.Name(), "_test.go") {
			continue
		}
		src, err := os.ReadFile("../../analysis/detect/" + f.Name())
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range ruleName.FindAllStringSubmatch(string(src), -1) {
			family, _, _ := strings.Cut(m[1], ".")
			if !families[family] {
				continue
			}
			found++
			if !bytes.Contains(text, []byte("`"+m[1]+"`")) {
				t.Errorf("README.md does not list %s, which %s says", m[1], f.Name())
			}
		}
	}
	if found < len(detect.All()) {
		t.Errorf("only %d rules found in the sources", found)
	}
}
