package detect

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"strings"
	"testing"
)

// TestAnalyzersAreIslands fails where the files of one analyzer name what those
// of another declare. An analyzer may have several files: NAME.go and NAME_*.go.
func TestAnalyzersAreIslands(t *testing.T) {
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	fset := token.NewFileSet()
	var files []*ast.File
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(fset, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	// Imports stay unresolved: only the package's own names matter here.
	info := types.Info{Uses: map[*ast.Ident]types.Object{}}
	conf := types.Config{Error: func(error) {}}
	pkg, _ := conf.Check("detect", fset, files, &info)
	for ident, object := range info.Uses {
		if object.Pkg() != pkg || object.Parent() != pkg.Scope() {
			continue
		}
		from, to := island(fset, ident.Pos()), island(fset, object.Pos())
		if from != to && to != "detect" && to != "finding" {
			t.Errorf("%s uses %s, which belongs to %s", fset.Position(ident.Pos()), ident.Name, to)
		}
	}
}

func island(fset *token.FileSet, at token.Pos) string {
	name, _, _ := strings.Cut(filepath.Base(fset.Position(at).Filename), ".")
	name, _, _ = strings.Cut(name, "_")
	return name
}
