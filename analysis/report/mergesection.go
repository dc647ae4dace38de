package report

import (
	"cmp"
	"fmt"
	"slices"
)

// addSections adds sections by name; those given stay as they are.
func (r *Report) addSections(sections []Section) error {
	for i := range sections {
		from := &sections[i]
		to := r.Section(from.Name)
		for _, m := range from.Measures {
			if err := to.addMeasure(m); err != nil {
				return fmt.Errorf("section %s: measure %s: %w", from.Name, m.Name, err)
			}
		}
		for j := range from.Tables {
			if err := to.addTable(&from.Tables[j]); err != nil {
				return fmt.Errorf("section %s: table %s: %w", from.Name, from.Tables[j].Name, err)
			}
		}
	}
	return nil
}

func (s *Section) addMeasure(m Measure) error {
	i := slices.IndexFunc(s.Measures, func(x Measure) bool { return x.Name == m.Name })
	if i < 0 {
		s.Measures = append(s.Measures, m)
		return m.Kind.check()
	}
	sum := &s.Measures[i]
	if sum.Kind != m.Kind || sum.Unit != m.Unit {
		return fmt.Errorf("%s of %q and %s of %q do not add up", sum.Kind, sum.Unit, m.Kind, m.Unit)
	}
	sum.Help = max(sum.Help, m.Help)
	sum.Value = m.Kind.add(sum.Value, m.Value)
	return nil
}

func (s *Section) addTable(t *Table) error {
	sum := s.Table(t.Name)
	if sum == nil {
		s.Tables = append(s.Tables, Table{
			Name: t.Name, Keys: slices.Clone(t.Keys), Columns: slices.Clone(t.Columns),
		})
		sum = &s.Tables[len(s.Tables)-1]
	}
	if !slices.Equal(sum.Keys, t.Keys) || !slices.Equal(sum.Columns, t.Columns) {
		return fmt.Errorf("the columns differ")
	}
	sum.Help = max(sum.Help, t.Help)
	return sum.addRows(t.Rows)
}

// addRows puts rows behind those that are there. They share keys and values with
// what they came from until settle.
func (t *Table) addRows(rows []Row) error {
	for _, c := range t.Columns {
		if err := c.Kind.check(); err != nil {
			return fmt.Errorf("column %s: %w", c.Name, err)
		}
	}
	for i := range rows {
		if row := &rows[i]; len(row.Key) != len(t.Keys) || len(row.Values) != len(t.Columns) {
			return fmt.Errorf("row %q has %d keys and %d values, not %d and %d",
				row.Key, len(row.Key), len(row.Values), len(t.Keys), len(t.Columns))
		}
	}
	if t.Rows == nil {
		t.Rows = slices.Clip(rows)
		return nil
	}
	t.Rows = slices.Concat(t.Rows, rows)
	return nil
}

// settle orders the rows and adds those of one key. Where the rows are not the
// table's own, it makes them so.
func (t *Table) settle(own bool) {
	rows := t.Rows
	if !own {
		rows = copied(rows)
	}
	arrange(rows, rowOrder(rows))
	kept := 0
	for i := range rows {
		if i > 0 && slices.Equal(rows[kept-1].Key, rows[i].Key) {
			t.add(rows[kept-1].Values, rows[i].Values)
			continue
		}
		rows[kept] = rows[i]
		kept++
	}
	clear(rows[kept:])
	t.Rows = rows[:kept]
}

// rowOrder returns the order of rows by their keys.
func rowOrder(rows []Row) []int32 {
	if len(rows) == 0 {
		return nil
	}
	width := len(rows[0].Key)
	cells := make([]cell, 0, len(rows)*width)
	for i := range rows {
		for _, s := range rows[i].Key {
			cells = append(cells, cellOf(s))
		}
	}
	return ordered(len(rows), func(i, j int32) int {
		a, b := cells[int(i)*width:], cells[int(j)*width:]
		for k := range width {
			if c := a[k].compare(b[k], rows[i].Key[k], rows[j].Key[k]); c != 0 {
				return c
			}
		}
		return 0
	})
}

// copied returns a copy of rows, in few pieces of memory.
func copied(rows []Row) []Row {
	var cells, numbers int
	for i := range rows {
		cells, numbers = cells+len(rows[i].Key), numbers+len(rows[i].Values)
	}
	keys, values := make([]string, 0, cells), make([]int64, 0, numbers)
	out := make([]Row, len(rows))
	for i := range rows {
		k, v := len(keys), len(values)
		keys, values = append(keys, rows[i].Key...), append(values, rows[i].Values...)
		out[i] = Row{keys[k:len(keys):len(keys)], values[v:len(values):len(values)]}
	}
	return out
}

func (k Kind) check() error {
	switch k {
	case Sum, Peak, Floor:
		return nil
	}
	return fmt.Errorf("unknown kind %q", string(k))
}

func (k Kind) add(a, b int64) int64 {
	switch k {
	case Peak:
		return max(a, b)
	case Floor:
		return min(a, b)
	}
	return a + b
}

// settleSections orders sections, measures and tables by name, and returns the
// tables.
func (r *Report) settleSections() (tables []*Table) {
	slices.SortFunc(r.Sections, func(a, b Section) int { return cmp.Compare(a.Name, b.Name) })
	for i := range r.Sections {
		s := &r.Sections[i]
		slices.SortFunc(s.Measures, func(a, b Measure) int { return cmp.Compare(a.Name, b.Name) })
		slices.SortFunc(s.Tables, func(a, b Table) int { return cmp.Compare(a.Name, b.Name) })
		for j := range s.Tables {
			tables = append(tables, &s.Tables[j])
		}
	}
	return tables
}
