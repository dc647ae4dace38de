package detect

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/rocescope/rocescope/analysis"
	"github.com/rocescope/rocescope/analysis/report"
)

// ruleName is what a rule's name looks like.
var ruleName = regexp.MustCompile(`^[a-z]+\.[a-z-]+$`)

// TestJudgesAndPagesNameTheSameRules holds the pages of each analyzer against
// the names that its other files write out.
func TestJudgesAndPagesNameTheSameRules(t *testing.T) {
	families := map[string]bool{}
	for _, r := range Rules() {
		families[family(r.Name)] = true
	}
	for _, name := range vocabulary(t) {
		families[family(name)] = true
	}
	judged := judgedRules(t, families)
	for _, a := range All() {
		var pages []string
		for _, r := range a.Rules {
			pages = append(pages, r.Name)
			if !slices.Contains(judged[a.Name], r.Name) {
				t.Errorf("%s has a page for %s, which nothing in its files names", a.Name, r.Name)
			}
		}
		for _, name := range judged[a.Name] {
			if !slices.Contains(pages, name) {
				t.Errorf("%s has no page for %s", a.Name, name)
			}
		}
	}
}

func family(rule string) string {
	name, _, _ := strings.Cut(rule, ".")
	return name
}

// judgedRules returns the rules that the sources of each analyzer write out: as
// the Rule of a finding, or as any text of a known family.
func judgedRules(t *testing.T, families map[string]bool) map[string][]string {
	t.Helper()
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	fset, out := token.NewFileSet(), map[string][]string{}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") || strings.HasSuffix(name, "_rules.go") {
			continue
		}
		f, err := parser.ParseFile(fset, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		of := island(fset, f.Pos())
		ast.Inspect(f, func(n ast.Node) bool {
			if rule, sure := writtenRule(n); rule != "" && (sure || families[family(rule)]) && !slices.Contains(out[of], rule) {
				out[of] = append(out[of], rule)
			}
			return true
		})
	}
	return out
}

// writtenRule returns the text at a node if it may be a rule's name, and
// whether it is for sure, because it becomes a field Rule.
func writtenRule(n ast.Node) (rule string, sure bool) {
	if pair, ok := n.(*ast.KeyValueExpr); ok {
		key, ok := pair.Key.(*ast.Ident)
		if !ok || key.Name != "Rule" {
			return "", false
		}
		n, sure = pair.Value, true
	}
	lit, ok := n.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return "", false
	}
	text, err := strconv.Unquote(lit.Value)
	if err != nil || !ruleName.MatchString(text) {
		return "", false
	}
	return text, sure
}

// vocabulary returns the names of the project's list of findings, which lies
// beside it; none where it is absent.
func vocabulary(t *testing.T) (names []string) {
	t.Helper()
	data, err := os.ReadFile("../../../shared/findings.md")
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		cells := strings.Split(line, "|")
		if len(cells) < 3 {
			continue
		}
		for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cells[1], -1) {
			names = append(names, m[1])
		}
	}
	return names
}

// added are rules that the list of findings does not hold yet: it lets new ones
// be added, and none renamed.
var added = []string{"mtu.only-opcodes"}

func TestRulesAreOfTheVocabulary(t *testing.T) {
	names := vocabulary(t)
	if len(names) == 0 {
		t.Skip("the list of findings is absent")
	}
	names = append(names, added...)
	for _, r := range Rules() {
		if !slices.Contains(names, r.Name) {
			t.Errorf("%s is not on the list of findings", r.Name)
		}
	}
}

func TestPagesReadWell(t *testing.T) {
	rules := Rules()
	for i, r := range rules {
		if i > 0 && r.Name == rules[i-1].Name {
			t.Errorf("%s has two pages", r.Name)
		}
		if !ruleName.MatchString(r.Name) {
			t.Errorf("%q is no name of a rule", r.Name)
		}
		if why := brokenBrief(r.Brief); why != "" {
			t.Errorf("%s: the brief text %q %s", r.Name, r.Brief, why)
		}
		if len(r.Severities) == 0 || !slices.IsSortedFunc(r.Severities, func(a, b report.Severity) int { return a.Rank() - b.Rank() }) {
			t.Errorf("%s: severities %q, want some, the worst first", r.Name, r.Severities)
		}
		for title, text := range map[string]string{"Means": r.Means, "Computed": r.Computed, "Not": r.Not, "Do": r.Do} {
			for _, paragraph := range strings.Split(text, "\n\n") {
				if why := brokenParagraph(paragraph); why != "" {
					t.Errorf("%s: %s %s: %q", r.Name, title, why, paragraph)
				}
			}
		}
	}
}

// brokenBrief tells what is wrong with half a line, empty where nothing is. An
// abbreviation may stand at its start.
func brokenBrief(s string) string {
	first, n := utf8.DecodeRuneInString(s)
	second, _ := utf8.DecodeRuneInString(s[n:])
	switch {
	case strings.TrimSpace(s) == "":
		return "is empty"
	case utf8.RuneCountInString(s) >= 80:
		return "is longer than a line"
	case strings.HasSuffix(s, "."):
		return "ends with a full stop"
	case unicode.IsUpper(first) && !unicode.IsUpper(second):
		return "begins with a capital"
	}
	return ""
}

// brokenParagraph tells what is wrong with a paragraph of a page.
func brokenParagraph(s string) string {
	first, _ := utf8.DecodeRuneInString(s)
	switch {
	case strings.TrimSpace(s) == "":
		return "is empty"
	case !strings.HasSuffix(s, "."):
		return "does not end with a full stop"
	case !unicode.IsUpper(first) && !unicode.IsDigit(first) && !strings.Contains(s[:min(len(s), 40)], "_"):
		return "does not begin like a sentence"
	case strings.Contains(s, "  ") || strings.Contains(s, "\n") || strings.TrimSpace(s) != s:
		return "has space to spare"
	case strings.Count(s, "`")%2 != 0 || strings.Count(s, "(") != strings.Count(s, ")"):
		return "opens what it does not close"
	}
	return ""
}

// TestBrokenTextsAreNoticed holds TestPagesReadWell to its word.
func TestBrokenTextsAreNoticed(t *testing.T) {
	for _, s := range []string{"", " ", "Packets were lost", "packets were lost.", strings.Repeat("long ", 16)} {
		if brokenBrief(s) == "" {
			t.Errorf("%q passes for a brief text", s)
		}
	}
	for _, s := range []string{"", "It ends", "it begins small.", "Two  spaces.", "A `quote.", "Open (it."} {
		if brokenParagraph(s) == "" {
			t.Errorf("%q passes for a paragraph", s)
		}
	}
	if why := brokenBrief("CNPs are fine"); why != "" {
		t.Errorf("an abbreviation %s", why)
	}
}

// statedLimit is how a page states a threshold: "10 % (Limits.CEWarn)".
var (
	statedLimit = regexp.MustCompile(`([0-9.]+)( %| ms| µs| MiB)? \(Limits\.(\w+)\)`)
	namedLimit  = regexp.MustCompile(`Limits\.(\w+)`)
)

func TestPagesStateTheLimitsInForce(t *testing.T) {
	limits := reflect.ValueOf(analysis.Defaults(1).Limits)
	for _, r := range Rules() {
		text := r.Means + r.Computed + r.Not + r.Do
		stated := statedLimit.FindAllStringSubmatch(text, -1)
		if n := len(namedLimit.FindAllString(text, -1)); n != len(stated) {
			t.Errorf("%s names %d limits, and states the values of %d", r.Name, n, len(stated))
		}
		for _, m := range stated {
			v := limits.FieldByName(m[3])
			if !v.IsValid() {
				t.Errorf("%s: there is no limit %s", r.Name, m[3])
				continue
			}
			if got := inUnit(t, v, m[2]); got != m[1] {
				t.Errorf("%s: %s is %s%s, not %s", r.Name, m[3], got, m[2], m[1])
			}
		}
	}
}

// TestEveryLimitIsOnAPage has each threshold stand where a reader of a finding
// looks for it, and be in force by default.
func TestEveryLimitIsOnAPage(t *testing.T) {
	limits := reflect.ValueOf(analysis.Defaults(1).Limits)
	stated := map[string]bool{}
	for _, r := range Rules() {
		for _, m := range statedLimit.FindAllStringSubmatch(r.Means+r.Computed+r.Not+r.Do, -1) {
			stated[m[3]] = true
		}
	}
	for i := range limits.NumField() {
		name := limits.Type().Field(i).Name
		if !stated[name] {
			t.Errorf("no page states %s", name)
		}
		if limits.Field(i).IsZero() {
			t.Errorf("%s is 0 by default", name)
		}
	}
}

// inUnit writes a limit as a number of its unit.
func inUnit(t *testing.T, v reflect.Value, unit string) string {
	t.Helper()
	x := 0.0
	if v.CanInt() {
		x = float64(v.Int())
	} else {
		x = v.Float()
	}
	switch unit {
	case " %":
		x *= 100
	case " ms":
		x /= 1e6
	case " µs":
		x /= 1e3
	case " MiB":
		x /= 1 << 20
	}
	return strconv.FormatFloat(x, 'g', 6, 64)
}

// onTheirPages fails where a finding is not as its rule's page says, or does not
// say how sure it is.
func onTheirPages(t testing.TB, fs []report.Finding) {
	t.Helper()
	rules := Rules()
	for i := range fs {
		f := &fs[i]
		at, found := slices.BinarySearchFunc(rules, f.Rule, func(r report.Rule, name string) int { return strings.Compare(r.Name, name) })
		if !found {
			t.Errorf("%s has no page", f.Rule)
			continue
		}
		if !slices.Contains(rules[at].Severities, f.Severity) {
			t.Errorf("%s is %s, and its page knows only %q: %s", f.Rule, f.Severity, rules[at].Severities, f.Summary)
		}
		if !slices.Contains([]report.Confidence{report.Certain, report.Likely, report.Possible}, f.Confidence) {
			t.Errorf("%s says %q of how sure it is: %s", f.Rule, f.Confidence, f.Summary)
		}
	}
}
