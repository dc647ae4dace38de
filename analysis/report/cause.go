package report

// Root returns the index of the finding that finding i follows from in the end:
// i itself where nothing explains it.
func (r *Report) Root(i int) int {
	for range r.Findings { // as many steps as there are findings end even a circle in a file
		by := r.Findings[i].ExplainedBy
		if by == nil || *by < 0 || *by >= len(r.Findings) {
			return i
		}
		i = *by
	}
	return i
}

// Weights returns, for each finding that nothing explains, the worst severity of
// itself and all that follows from it; for the others their own.
func (r *Report) Weights() []Severity {
	out := make([]Severity, len(r.Findings))
	for i := range r.Findings {
		out[i] = r.Findings[i].Severity
	}
	for i := range r.Findings {
		if root := r.Root(i); r.Findings[i].Severity.Rank() < out[root].Rank() {
			out[root] = r.Findings[i].Severity
		}
	}
	return out
}

// Worst returns the index of the finding to name first: of those that nothing
// explains the one of the worst weight, of several the first. It returns -1
// where nothing is above info.
func (r *Report) Worst() int {
	worst, rank := -1, Info.Rank()
	for i, s := range r.Weights() {
		if s.Rank() < rank && r.Root(i) == i {
			worst, rank = i, s.Rank()
		}
	}
	return worst
}
