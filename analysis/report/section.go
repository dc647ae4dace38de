package report

import (
	"cmp"
	"slices"
)

// Kind says how a measure adds up when reports are merged.
type Kind string

// The kinds of measure. Ratios and percentiles are none: they are computed
// when a report is read, because they do not add up.
const (
	Sum   Kind = "sum"
	Peak  Kind = "peak"  // the larger one
	Floor Kind = "floor" // the smaller one
)

// Section is what one analyzer measured beyond the columns of a flow.
type Section struct {
	Name     string    `json:"name"` // the analyzer's
	Measures []Measure `json:"measures,omitempty"`
	Tables   []Table   `json:"tables,omitempty"`
}

// Measure is one number with what a renderer must know of it.
type Measure struct {
	Name  string `json:"name"`
	Unit  string `json:"unit"` // "frames", "bytes", "ns", or empty
	Kind  Kind   `json:"kind"`
	Help  string `json:"help"`
	Value int64  `json:"value"`
}

// Table is a keyed set of measures, such as one row a host.
type Table struct {
	Name    string   `json:"name"`
	Help    string   `json:"help"`
	Keys    []string `json:"keys"` // names of the key columns
	Columns []Column `json:"columns"`
	Rows    []Row    `json:"rows"` // ordered by key
}

// Column describes the values of a table, one for each row.
type Column struct {
	Name string `json:"name"`
	Unit string `json:"unit"`
	Kind Kind   `json:"kind"`
}

// Row is one line of a table.
type Row struct {
	Key    []string `json:"key"`
	Values []int64  `json:"values"`
}

// Slab makes rows in few pieces of memory, for tables with a row for each flow.
// The zero value is ready.
type Slab struct {
	keys   []string
	values []int64
}

// slabLen is how many cells a piece has.
const slabLen = 1024

// Row makes a row of copies.
func (s *Slab) Row(values []int64, key ...string) Row {
	if len(key) > cap(s.keys)-len(s.keys) {
		s.keys = make([]string, 0, max(slabLen, len(key)))
	}
	if len(values) > cap(s.values)-len(s.values) {
		s.values = make([]int64, 0, max(slabLen, len(values)))
	}
	k, v := len(s.keys), len(s.values)
	s.keys, s.values = append(s.keys, key...), append(s.values, values...)
	return Row{s.keys[k:len(s.keys):len(s.keys)], s.values[v:len(s.values):len(s.values)]}
}

// Tally fills a table in which many rows add to one, as those of all queue pairs
// between two hosts: what Merge would do as well, of many rows more. The zero
// value is ready.
type Tally[K comparable] struct {
	slab Slab
	at   map[K]int
}

// Add adds values to the row of a key, whose cells are asked for once.
func (t *Tally[K]) Add(to *Table, k K, values []int64, cells func() []string) {
	i, ok := t.at[k]
	if !ok {
		if t.at == nil {
			t.at = map[K]int{}
		}
		t.at[k] = len(to.Rows)
		to.Rows = append(to.Rows, t.slab.Row(values, cells()...))
		return
	}
	to.add(to.Rows[i].Values, values)
}

// add adds the values of a row to those of another one of the same key.
func (t *Table) add(sum, values []int64) {
	for j := range t.Columns {
		sum[j] = t.Columns[j].Kind.add(sum[j], values[j])
	}
}

// Section returns the section of that name, adding it where it is missing.
func (r *Report) Section(name string) *Section {
	for i := range r.Sections {
		if r.Sections[i].Name == name {
			return &r.Sections[i]
		}
	}
	r.Sections = append(r.Sections, Section{Name: name})
	return &r.Sections[len(r.Sections)-1]
}

// Table returns a table of a section, nil where the report does not have it.
func (r *Report) Table(section, table string) *Table {
	for i := range r.Sections {
		if s := &r.Sections[i]; s.Name == section {
			return s.Table(table)
		}
	}
	return nil
}

// Rows returns the rows of a table, none where the report does not have it.
func (r *Report) Rows(section, table string) []Row {
	if t := r.Table(section, table); t != nil {
		return t.Rows
	}
	return nil
}

// Value returns the measure of a section, 0 where the report does not have it.
func (r *Report) Value(section, measure string) int64 {
	for i := range r.Sections {
		if s := &r.Sections[i]; s.Name == section {
			return s.Value(measure)
		}
	}
	return 0
}

// Column returns the place of a column among the values of a row, -1 where the
// table does not have it.
func (t *Table) Column(name string) int {
	return slices.IndexFunc(t.Columns, func(c Column) bool { return c.Name == name })
}

// MostFirst returns rows by their first column, the largest first.
func MostFirst(rows []Row) []Row {
	rows = slices.Clone(rows)
	slices.SortStableFunc(rows, func(a, b Row) int { return cmp.Compare(b.Values[0], a.Values[0]) })
	return rows
}

// Table returns the table of that name, or nil.
func (s *Section) Table(name string) *Table {
	for i := range s.Tables {
		if s.Tables[i].Name == name {
			return &s.Tables[i]
		}
	}
	return nil
}

// Value returns the measure of that name, 0 where it is missing.
func (s *Section) Value(name string) int64 {
	for i := range s.Measures {
		if s.Measures[i].Name == name {
			return s.Measures[i].Value
		}
	}
	return 0
}
