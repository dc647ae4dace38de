package detect

import (
	"iter"

	"github.com/rocescope/rocescope/analysis"
	"github.com/rocescope/rocescope/analysis/report"
)

// perRow holds what an analyzer keeps of each row, by FlowID, in pages that are
// made when a row of theirs is first asked for. What one page holds never moves,
// so that a list grows without a copy, and leaves no hole behind.
//
// What every packet of a row touches belongs into one such list, as little of it
// as will do; what few rows need into another, or behind a pointer.
type perRow[T any] struct {
	pages []*[rowsOfPage]T
	read  T // by warm, so that it is not read in vain
}

const rowsOfPage = 256

// at returns the element of a row, which is zero where the row is new. It stays
// where it is.
func (l *perRow[T]) at(id analysis.FlowID) *T {
	n := uint(id) / rowsOfPage
	if n >= uint(len(l.pages)) || l.pages[n] == nil {
		l.page(n)
	}
	return &l.pages[n][uint(id)%rowsOfPage]
}

// manyPages is from how many pages on elements are read ahead: fewer stay in the cache.
const manyPages = 64

// warm reads the elements of a batch's rows before they are used, one behind the
// other with nothing that waits for one, so that the memory serves many at a time.
func (l *perRow[T]) warm(b *analysis.Batch) {
	if len(l.pages) < manyPages {
		return
	}
	for i := range b.Streaks {
		if x := l.known(b.Streaks[i].Flow); x != nil {
			l.read = *x
		}
	}
}

// page makes a page.
func (l *perRow[T]) page(n uint) {
	if n >= uint(len(l.pages)) {
		l.pages = append(l.pages, make([]*[rowsOfPage]T, n+1-uint(len(l.pages)))...)
	}
	l.pages[n] = new([rowsOfPage]T)
}

// known returns the element of a row, nil where nobody asked for it or its
// neighbours yet.
func (l *perRow[T]) known(id analysis.FlowID) *T {
	if n := uint32(id) / rowsOfPage; id >= 0 && int(n) < len(l.pages) && l.pages[n] != nil {
		return &l.pages[n][uint32(id)%rowsOfPage]
	}
	return nil
}

// of returns the elements of the rows of a report, which is of the shard that
// these are of. Some may never have been asked for: they are zero.
func (l *perRow[T]) of(r *report.Report) iter.Seq2[analysis.FlowID, *T] {
	return func(yield func(analysis.FlowID, *T) bool) {
		for n, page := range l.pages {
			for i := n * rowsOfPage; page != nil && i < min(len(r.Flows), (n+1)*rowsOfPage); i++ {
				if !yield(analysis.FlowID(i), &page[i%rowsOfPage]) {
					return
				}
			}
		}
	}
}
