package report

// Rule is the page of one kind of finding. Its texts are plain sentences, in
// paragraphs with an empty line between.
type Rule struct {
	Name       string     // as in Finding.Rule
	Severities []Severity // that a finding of it may have, worst first
	Brief      string     // what it says, in half a line: no capital at the start, no full stop
	Means      string     // what happened on the wire, and why it matters
	Computed   string     // how it is told from packets, and what decides its counts
	Not        string     // what it must not be confused with, and what cannot be known
	Do         string     // what to look at next, by the usual names
}
