package report

import (
	"cmp"
	"fmt"
	"slices"
)

// Merge adds reports: those of the shards of one run, of several captures, or
// saved ones. It is associative and commutative, and brings rows, tables and
// sections into one order, which Merge of a single report does as well. The
// reports given stay as they are and share nothing that can change with the
// result; nil ones are passed over.
//
// Captures stand one behind the other. Rows of one key add where their spans of
// time overlap; where they do not, the queue pair number was used again, or a
// later capture goes on, and they stay two rows. A packet seen at two taps
// counts twice.
//
// Findings and expected counters are dropped: they do not add up and have to be
// judged anew on the sum.
//
// An error says that the reports do not fit: another schema, or a measure that
// adds up in another way.
func Merge(rs ...*Report) (*Report, error) { return merge(rs, false) }

// Join is Merge of reports that nobody needs afterwards: it takes their rows
// over. Where the rows of all flows stand in one of them, no row is copied.
func Join(rs ...*Report) (*Report, error) { return merge(rs, true) }

func merge(rs []*Report, own bool) (*Report, error) {
	sum := &Report{Schema: Schema}
	var flows [][]Flow
	for _, r := range rs {
		if r == nil {
			continue
		}
		if r.Schema != "" {
			if err := checkSchema(r.Schema); err != nil {
				return nil, fmt.Errorf("merge: %w", err)
			}
		}
		for _, c := range r.Captures {
			c.LinkTypes = slices.Clone(c.LinkTypes)
			sum.Captures = append(sum.Captures, c)
		}
		addTotals(&sum.Totals, &r.Totals)
		if len(r.Flows) > 0 {
			flows = append(flows, r.Flows)
		}
		if err := sum.addSections(r.Sections); err != nil {
			return nil, fmt.Errorf("merge: %w", err)
		}
		if own {
			*r = Report{} // the memory may go
		}
	}
	slices.SortFunc(sum.Captures, compareCaptures)
	tables := sum.settleSections()
	together(1+len(tables), func(i int) {
		if i == 0 {
			sum.Flows = addFlows(flows, own)
			return
		}
		tables[i-1].settle(own)
	})
	return sum, nil
}

// compareCaptures orders by time, and then by every other field, so that the
// order of merging does not show.
func compareCaptures(a, b Capture) int {
	return cmp.Or(
		cmp.Compare(a.FirstNs, b.FirstNs),
		cmp.Compare(a.Name, b.Name),
		cmp.Compare(a.LastNs, b.LastNs),
		cmp.Compare(a.Format, b.Format),
		slices.Compare(a.LinkTypes, b.LinkTypes),
		cmp.Compare(a.SnapLen, b.SnapLen),
		cmp.Compare(a.Frames, b.Frames),
		cmp.Compare(a.Bytes, b.Bytes),
		cmp.Compare(a.Truncated, b.Truncated),
		cmp.Compare(a.Dropped, b.Dropped),
		cmp.Compare(a.Damaged, b.Damaged),
		cmp.Compare(a.Skipped, b.Skipped),
		cmp.Compare(a.Parts, b.Parts),
	)
}
