package render

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rocescope/rocescope/analysis/report"
)

func TestTextGoldenWide(t *testing.T) {
	golden(t, "faulty-100.txt", render(t, "text", faulty(), Options{Width: 100, Findings: 2, Flows: 3}))
}

func TestTextFitsTheWidth(t *testing.T) {
	for _, s := range samples {
		for _, width := range []int{80, 100, 120} {
			for line := range strings.Lines(render(t, "text", s.report(), Options{Width: width})) {
				line = strings.TrimSuffix(line, "\n")
				if columns(line) > width && !strings.HasPrefix(line, "    filter") {
					t.Errorf("%s at %d: %d columns: %s", s.name, width, columns(line), line)
				}
				if strings.TrimRight(line, " ") != line {
					t.Errorf("%s: spaces at the end of %q", s.name, line)
				}
			}
		}
	}
}

// What is wrong and what to do must be seen without scrolling.
func TestTextFirstScreen(t *testing.T) {
	lines := strings.Split(render(t, "text", faulty(), Options{}), "\n")
	screen := strings.Join(lines[:24], "\n")
	for _, want := range []string{"rack7-leaf.pcapng", "Verdict", "CRITICAL", "stopped answering", "next", "filter"} {
		if !strings.Contains(screen, want) {
			t.Errorf("%q is not on the first screen:\n%s", want, screen)
		}
	}
}

func TestTextColor(t *testing.T) {
	plain := render(t, "text", faulty(), Options{})
	if strings.Contains(plain, "\x1b") {
		t.Error("colours that were not asked for")
	}
	colored := render(t, "text", faulty(), Options{Color: true})
	escape := regexp.MustCompile("\x1b\\[[0-9;]*m")
	if !escape.MatchString(colored) || escape.ReplaceAllString(colored, "") != plain {
		t.Error("colours change more than colour")
	}
}

// Names of files and text out of packets are anybody's bytes.
func TestTextKeepsControlCharactersOut(t *testing.T) {
	evil := "a\x1b[2Jb\rc\u202ed"
	r := &report.Report{
		Captures: []report.Capture{{Name: evil, Damaged: evil}},
		Flows:    []report.Flow{{Src: evil, Dst: evil, Transport: evil}},
		Findings: []report.Finding{
			{Rule: evil, Severity: report.Severity(evil), Summary: evil, Not: evil, Advice: evil, Filter: evil, Flow: &report.FlowRef{Src: evil}},
			{Rule: "x", Severity: report.Warning, Summary: evil, Not: evil, Advice: evil, Filter: evil, Flow: &report.FlowRef{Src: evil}},
		},
	}
	for _, findings := range []int{1, 12} {
		if got := render(t, "text", r, Options{Findings: findings}); strings.ContainsAny(got, "\x1b\r\u202e") {
			t.Errorf("%q", got)
		}
	}
}

func TestWrap(t *testing.T) {
	for _, test := range []struct {
		desc, text string
		want       []string
	}{
		{"nothing", "", nil},
		{"spaces alone", "  ", nil},
		{"it fits", "one two", []string{"one two"}},
		{"it breaks between words", "one two three", []string{"one two", "three"}},
		{"a long word stands alone", "a bbbbbbbbbbbbb c", []string{"a", "bbbbbbbbbbbbb", "c"}},
		{"an arrow is one column", "a → b → c", []string{"a → b →", "c"}},
		{"line breaks are spaces", "one\ntwo", []string{"one two"}},
	} {
		if got := wrap(test.text, 8); !slices.Equal(got, test.want) {
			t.Errorf("%s: %q, want %q", test.desc, got, test.want)
		}
	}
}

func TestFrames(t *testing.T) {
	for _, test := range []struct {
		desc    string
		numbers []uint64
		want    string
	}{
		{"none", nil, ""},
		{"a few", []uint64{14, 12847}, "14, 12847"},
		{"one more than shown is shown", []uint64{1, 2, 3, 4, 5, 6, 7}, "1, 2, 3, 4, 5, 6, 7"},
		{"many", []uint64{1, 2, 3, 4, 5, 6, 7, 99}, "1, 2, 3, 4, 5, 6 … 99"},
	} {
		if got := frames(test.numbers); got != test.want {
			t.Errorf("%s: %q, want %q", test.desc, got, test.want)
		}
	}
}

func TestFacts(t *testing.T) {
	r := damaged()
	r.Flows = append(r.Flows, connection("10.0.0.1", "10.0.0.2", 1, 2, 10)...)
	r.Flows = append(r.Flows,
		report.Flow{Src: "10.0.0.3", Dst: "10.0.0.4", DestQP: 5, Transport: "UD"},
		report.Flow{Src: "10.0.0.3", Dst: "10.0.0.4", DestQP: 6, Transport: "UD"})
	f := factsOf(r)
	if f.hostPairs != 3 || f.connected != 2 || f.oneWay != 1 || f.queuePairs != 5 {
		t.Errorf("%+v", f)
	}
	if f.frames != 5020 || f.first != at(0) || f.last != at(910_000_000) {
		t.Errorf("%+v", f)
	}
}

func TestTextOfManyCaptures(t *testing.T) {
	r := healthy()
	for range 6 {
		r.Captures = append(r.Captures, r.Captures[0])
	}
	got := render(t, "text", r, Options{})
	if !strings.Contains(got, "and 3 more files; 101,290 frames, 374 MB in all") || strings.Count(got, "rack7") != 4 {
		t.Error(got)
	}
}

func TestTextHead(t *testing.T) {
	for _, test := range []struct {
		desc   string
		change func(*report.Report)
		want   string
	}{
		{"what could not be checked limits a clean bill", func(r *report.Report) {
			r.NotKnowable = []report.Question{{What: "the ICRC of 3 frames", Narrows: true}}
		}, "No fault found in what could be checked."},
		{"what no capture of its kind shows does not", func(r *report.Report) { r.NotKnowable = []report.Question{{What: "pauses"}} }, "No fault found."},
		{"the headline is the verdict", func(r *report.Report) {
			r.Headline = "Odd. That explains z.z."
			r.Findings = []report.Finding{{Rule: "x.y", Severity: report.Notice, Summary: "Odd."}}
		}, "NOTICE: Odd. That explains z.z."},
		{"a cause weighs what it causes", func(r *report.Report) {
			by := 1
			r.Findings = []report.Finding{{Rule: "x.y", Severity: report.Critical, Summary: "Dead.", ExplainedBy: &by}, {Rule: "z.z", Severity: report.Notice, Summary: "Odd."}}
		}, "CRITICAL: Odd."},
		{"notices are a verdict", func(r *report.Report) {
			r.Findings = []report.Finding{{Rule: "x.y", Severity: report.Notice, Summary: "Odd."}}
		}, "NOTICE: Odd."},
		{"info is none", func(r *report.Report) {
			r.Findings = []report.Finding{{Rule: "x.y", Severity: report.Info, Summary: "Odd."}}
		}, "No fault found."},
		{"a day passes", func(r *report.Report) { r.Captures[0].LastNs += 86400e9 }, "to 2026-03-02 12:00:02.413 UTC, 1 d"},
		{"both versions", func(r *report.Report) { r.Totals.RoCEv1 = 1 }, "14,400 RoCEv2 frames, 1 RoCEv1 frame;"},
		{"damage of the invariant CRC", func(r *report.Report) { r.Totals.ICRCBad = 3 }, "ICRC 14,400 good, 3 BAD"},
		{"some hosts one way", func(r *report.Report) { r.Flows = r.Flows[:3] }, "1 of 2 connected host pairs one way only"},
		{"datagrams need no answer", func(r *report.Report) {
			r.Flows = []report.Flow{{Src: "10.0.0.1", Dst: "10.0.0.2", Transport: "UD"}}
		}, "1 flow to 1 queue pair, 1 host pair Quality"},
	} {
		r := healthy()
		test.change(r)
		got := render(t, "text", r, Options{})
		if !strings.Contains(strings.Join(strings.Fields(got), " "), test.want) {
			t.Errorf("%s: %q is not in\n%s", test.desc, test.want, got)
		}
	}
}

func TestFlowsWithFindingsStandFirst(t *testing.T) {
	r := faulty()
	var got []string
	for _, f := range byTrouble(r)[:3] {
		got = append(got, f.Ref().String())
	}
	want := []string{"10.0.0.1 → 10.0.0.3 QP 0x1a7", "10.0.0.9 → 10.0.0.2 QP 0x300", "10.0.0.9 → 10.0.0.2 QP 0x301"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

func TestTextFindings(t *testing.T) {
	finding := report.Finding{Rule: "cm.rejected", Severity: report.Warning, Summary: "First.", Advice: "Do this."}
	second := finding
	second.Summary = "Second."
	third := finding
	third.Summary, third.Flow, third.Frames = "Third.", &report.FlowRef{Src: "a", Dst: "b", DestQP: 1}, []uint64{12}
	other := second
	other.Advice = "Do that."
	info := report.Finding{Rule: "uet.present", Severity: report.Info, Summary: "Some."}
	sure := func(f report.Finding, c report.Confidence) report.Finding { f.Confidence = c; return f }
	for _, test := range []struct {
		desc     string
		findings []report.Finding
		want     string
	}{
		{"advice that is the same stands once", []report.Finding{finding, second}, `
WARNING  cm.rejected  (2 findings)
  First.
    next    Do this.
  Second.
`},
		{"advice that differs stands twice", []report.Finding{finding, other}, `
WARNING  cm.rejected  (2 findings)
  First.
    next    Do this.
  Second.
    next    Do that.
`},
		{"of three only the first is shown in full", []report.Finding{finding, second, third}, `
WARNING  cm.rejected  (3 findings)
  First.
    next    Do this.
    also    Second.
            a → b QP 0x1, frame 12
`},
		{"what is certain needs no word", []report.Finding{sure(finding, report.Certain)}, `
WARNING  cm.rejected
  First.
    next    Do this.
`},
		{"how sure one is stands in the heading", []report.Finding{sure(finding, report.Likely)}, `
WARNING  cm.rejected  (likely)
  First.
    next    Do this.
`},
		{"and of several that are alike", []report.Finding{sure(finding, report.Possible), sure(third, report.Possible)}, `
WARNING  cm.rejected  (2 findings, possible)
  First.
    next    Do this.
  Third.
    where   a → b QP 0x1
    frames  12
`},
		{"where they differ it stands with each", []report.Finding{sure(finding, report.Likely), sure(third, report.Certain), sure(third, report.Possible)}, `
WARNING  cm.rejected  (3 findings)
  First.
    sure    likely
    next    Do this.
    also    a → b QP 0x1, frame 12
            a → b QP 0x1, frame 12 (possible)
`},
		{"and at its place, where it has one", []report.Finding{sure(second, report.Certain), sure(third, report.Possible)}, `
WARNING  cm.rejected  (2 findings)
  Second.
    next    Do this.
  Third.
    where   a → b QP 0x1 (possible)
    frames  12
`},
		{"or with the sentence", []report.Finding{sure(info, report.Likely), sure(info, report.Possible)}, `
INFO  uet.present  (2 findings)
  Some. (likely)
  Some. (possible)
`},
		{"info is brief", []report.Finding{info, info, info, info}, `
INFO  uet.present  (4 findings)
  Some.
  Some.
  … and 2 more
`},
	} {
		p := &page{width: 80}
		r := &report.Report{Findings: test.findings}
		p.findings(r, &facts{}, 12)
		if got := p.String(); got != test.want {
			t.Errorf("%s:%s\nwant%s", test.desc, got, test.want)
		}
	}
}
