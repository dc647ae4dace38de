package main

import (
	"bytes"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The rules of the house, which no compiler knows.

const (
	top    = "../.."
	module = "github.com/rocescope/rocescope/"
)

// arrows says what each package may import beside the standard library, tests
// aside. A package of the project is named by its folder; a trailing slash
// stands for all packages of another module.
var arrows = map[string][]string{
	"cmd/rocescope": {"analysis", "analysis/counters", "analysis/detect", "analysis/diagnose", "analysis/render", "analysis/report",
		"decode", "decode/ib", "decode/roce", "decode/capture", "pcaps/synth",
		"github.com/google/gopacket/", "github.com/spf13/"},

	"decode":         {"decode/ib"},
	"decode/ib":      {},
	"decode/roce":    {"decode/ib", "github.com/google/gopacket/"},
	"decode/capture": {"decode", "github.com/klauspost/compress/", "golang.org/x/sys/", "golang.org/x/net/bpf/"},

	"analysis":               {"analysis/counters", "analysis/report", "analysis/internal/stat", "decode", "decode/ib"},
	"analysis/counters":      {"analysis/report"},
	"analysis/detect":        {"analysis", "analysis/report", "analysis/internal/stat", "decode", "decode/ib"},
	"analysis/diagnose":      {"analysis/report"},
	"analysis/internal/stat": {},
	"analysis/render":        {"analysis/report"},
	"analysis/report":        {},

	"pcaps":         {},
	"pcaps/synth":   {"decode", "decode/ib", "decode/roce", "decode/capture", "github.com/google/gopacket/"},
	"pcaps/wrapped": {"decode", "decode/capture"},
	"pcaps/lab":     {"decode", "decode/ib", "decode/capture"},
}

// topLevel is all that may lie at the top, beside files whose names begin with
// a dot.
var topLevel = []string{"cmd", "decode", "analysis", "pcaps", "go.mod", "go.sum", "README.md", "LICENSE"}

func TestTopLevelStaysAsItIs(t *testing.T) {
	entries, err := os.ReadDir(top)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") && !slices.Contains(topLevel, e.Name()) {
			t.Errorf("%s does not belong at the top; there are %s", e.Name(), strings.Join(topLevel, ", "))
		}
	}
}

func TestArrowsPointDownwards(t *testing.T) {
	for _, s := range sources(t) {
		if s.test {
			continue
		}
		allowed, known := arrows[s.dir]
		if !known {
			t.Errorf("package %s has no line in the table of arrows", s.dir)
			continue
		}
		for _, spec := range s.file.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.ContainsFunc(allowed, func(a string) bool { return allows(a, name) }) && !standard(name) {
				t.Errorf("%s: package %s must not import %s", s.at(spec), s.dir, name)
			}
		}
	}
}

func allows(arrow, name string) bool {
	if strings.HasSuffix(arrow, "/") {
		return strings.HasPrefix(name+"/", arrow)
	}
	return name == module+arrow
}

// standard reports whether a package is of the standard library: only there
// has the first part of the path no dot.
func standard(name string) bool {
	first, _, _ := strings.Cut(name, "/")
	return !strings.Contains(first, ".")
}

func TestOnlyMainExits(t *testing.T) {
	for _, s := range sources(t) {
		if s.test || s.name == "cmd/rocescope/main.go" {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok {
				if x, ok := sel.X.(*ast.Ident); ok && x.Name == "os" && sel.Sel.Name == "Exit" {
					t.Errorf("%s: only main knows os.Exit", s.at(n))
				}
			}
			return true
		})
	}
}

func TestEveryPackageSaysWhatItIs(t *testing.T) {
	comments := map[string][]string{}
	for _, s := range sources(t) {
		if s.test {
			continue
		}
		comments[s.dir] = append(comments[s.dir], "")
		if s.file.Doc != nil {
			comments[s.dir][len(comments[s.dir])-1] = s.file.Doc.Text()
		}
	}
	for dir, texts := range comments {
		want := "Package " + path.Base(dir) + " "
		if strings.HasPrefix(dir, "cmd/") || dir == "pcaps/lab" {
			want = "" // a command may begin otherwise
		}
		if !slices.ContainsFunc(texts, func(s string) bool { return s != "" && strings.HasPrefix(s, want) }) {
			t.Errorf("package %s has no comment that begins with %q", dir, want)
		}
	}
}

func TestSourcesAreFormatted(t *testing.T) {
	for _, s := range sources(t) {
		formatted, err := format.Source(s.text)
		if err != nil || !bytes.Equal(formatted, s.text) {
			t.Errorf("%s is not formatted (%v)", s.name, err)
		}
	}
}

// machines matches paths that exist on one machine only. It is put together so
// that it does not match itself.
var machines = regexp.MustCompile(`(^|[\s"'=(:])/(wo` + `rk|ro` + `ot|ho` + `me|Use` + `rs|t` + `mp)/`)

func TestNoFileNamesAPathOfAMachine(t *testing.T) {
	texts := []string{".go", ".md", ".txt", ".yml", ".yaml", ".json", ".mod", ""}
	walk(t, func(name string, text []byte) {
		if !slices.Contains(texts, path.Ext(name)) || bytes.IndexByte(text, 0) >= 0 {
			return
		}
		if at := machines.FindIndex(text); at != nil {
			t.Errorf("%s:%d names a path that is there on one machine only", name, 1+bytes.Count(text[:at[1]], []byte("\n")))
		}
	})
}

// TestAnalyzersAreIslands checks that a file of an analyzer names nothing that
// another one's declares. Files that hold no analyzer are common ground.
func TestAnalyzersAreIslands(t *testing.T) {
	owner := map[string]string{} // of a name declared at the top of a file
	var islands []source
	for _, s := range sources(t) {
		if s.dir == "analysis/detect" && !s.test && isAnalyzer(s.file) {
			islands = append(islands, s)
			for _, name := range declared(s.file) {
				owner[name] = s.name
			}
		}
	}
	if len(islands) == 0 {
		t.Fatal("there is not one analyzer")
	}
	for _, s := range islands {
		for _, id := range foreign(s.file) {
			if o := owner[id.Name]; o != "" && o != s.name {
				t.Errorf("%s: %s is declared in %s; what two analyzers need belongs to neither", s.at(id), id.Name, o)
			}
		}
	}
}

// isAnalyzer reports whether a file calls add(analysis.Analyzer{…}).
func isAnalyzer(f *ast.File) (is bool) {
	ast.Inspect(f, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && len(call.Args) == 1 {
			fun, ok := call.Fun.(*ast.Ident)
			_, lit := call.Args[0].(*ast.CompositeLit)
			is = is || ok && lit && fun.Name == "add"
		}
		return !is
	})
	return is
}

// declared returns the names that a file declares for its whole package.
func declared(f *ast.File) []string {
	var names []string
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				names = append(names, d.Name.Name)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					names = append(names, spec.Name.Name)
				case *ast.ValueSpec:
					for _, id := range spec.Names {
						names = append(names, id.Name)
					}
				}
			}
		}
	}
	return slices.DeleteFunc(names, func(s string) bool { return s == "_" })
}

// foreign returns the identifiers of a file that the parser could not resolve
// within it: names of other files, of packages, and of the language. Keys of
// struct literals are among them, and are none of these.
func foreign(f *ast.File) []*ast.Ident {
	keys := map[*ast.Ident]bool{}
	ast.Inspect(f, func(n ast.Node) bool {
		if kv, ok := n.(*ast.KeyValueExpr); ok {
			if id, ok := kv.Key.(*ast.Ident); ok {
				keys[id] = true
			}
		}
		return true
	})
	return slices.DeleteFunc(slices.Clone(f.Unresolved), func(id *ast.Ident) bool { return keys[id] })
}

// source is a parsed file of the project.
type source struct {
	name string // its path from the top
	dir  string
	text []byte
	file *ast.File
	set  *token.FileSet
	test bool
}

func (s *source) at(n ast.Node) string {
	return s.name + ":" + strconv.Itoa(s.set.Position(n.Pos()).Line)
}

// sources parses all Go files of the project.
func sources(t *testing.T) []source {
	t.Helper()
	var out []source
	walk(t, func(name string, text []byte) {
		if path.Ext(name) != ".go" {
			return
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, name, text, parser.ParseComments)
		if err != nil {
			t.Error(err)
			return
		}
		out = append(out, source{name, path.Dir(name), text, file, set, strings.HasSuffix(name, "_test.go")})
	})
	return out
}

// walk visits every file of the project but captures and what git keeps.
func walk(t *testing.T, visit func(name string, text []byte)) {
	t.Helper()
	err := filepath.WalkDir(top, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if d.Name() == ".git" {
				return fs.SkipDir
			}
			return nil
		}
		if strings.Contains(d.Name(), ".pcap") || !d.Type().IsRegular() {
			return nil
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(top, file)
		visit(filepath.ToSlash(name), text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
