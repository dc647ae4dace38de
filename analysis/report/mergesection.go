package report

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
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

// addRows adds rows by key and leaves them without order.
func (t *Table) addRows(rows []Row) error {
	for _, c := range t.Columns {
		if err := c.Kind.check(); err != nil {
			return fmt.Errorf("column %s: %w", c.Name, err)
		}
	}
	at := make(map[string]int, len(t.Rows)+len(rows))
	for i, row := range t.Rows {
		at[rowName(row.Key)] = i
	}
	for _, row := range rows {
		if len(row.Key) != len(t.Keys) || len(row.Values) != len(t.Columns) {
			return fmt.Errorf("row %q has %d keys and %d values, not %d and %d",
				row.Key, len(row.Key), len(row.Values), len(t.Keys), len(t.Columns))
		}
		name := rowName(row.Key)
		i, ok := at[name]
		if !ok {
			at[name] = len(t.Rows)
			t.Rows = append(t.Rows, Row{slices.Clone(row.Key), slices.Clone(row.Values)})
			continue
		}
		for j, c := range t.Columns {
			t.Rows[i].Values[j] = c.Kind.add(t.Rows[i].Values[j], row.Values[j])
		}
	}
	return nil
}

// rowName makes one string of a key; no key cell holds a zero byte.
func rowName(key []string) string { return strings.Join(key, "\x00") }

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

// sortSections orders sections, measures and tables by name and rows by key.
func (r *Report) sortSections() {
	slices.SortFunc(r.Sections, func(a, b Section) int { return cmp.Compare(a.Name, b.Name) })
	for i := range r.Sections {
		s := &r.Sections[i]
		slices.SortFunc(s.Measures, func(a, b Measure) int { return cmp.Compare(a.Name, b.Name) })
		slices.SortFunc(s.Tables, func(a, b Table) int { return cmp.Compare(a.Name, b.Name) })
		for j := range s.Tables {
			slices.SortFunc(s.Tables[j].Rows, func(a, b Row) int {
				return slices.CompareFunc(a.Key, b.Key, compareCells)
			})
		}
	}
}

// compareCells orders two cells of a key column as a reader expects: numbers
// by value, then addresses by value, then the rest as text.
func compareCells(a, b string) int {
	rank := func(s string) (rank int, number int64, addr netip.Addr) {
		// What is neither is seen from outside: an error costs memory.
		if strings.Trim(s, "-0123456789") == "" {
			if n, err := strconv.ParseInt(s, 10, 64); err == nil {
				return 0, n, addr
			}
		}
		if strings.ContainsAny(s, ".:") {
			if addr, err := netip.ParseAddr(s); err == nil {
				return 1, 0, addr
			}
		}
		return 2, 0, addr
	}
	rankA, numberA, addrA := rank(a)
	rankB, numberB, addrB := rank(b)
	return cmp.Or(cmp.Compare(rankA, rankB), cmp.Compare(numberA, numberB), addrA.Compare(addrB), cmp.Compare(a, b))
}
