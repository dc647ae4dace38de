package decode

import "strings"

// named writes out a set: the names of its bits from the lowest on, with commas
// between them, and "none" for the empty one.
func named(set uint32, names []string) string {
	var s []string
	for i, name := range names {
		if set&(1<<i) != 0 {
			s = append(s, name)
		}
	}
	if s == nil {
		return "none"
	}
	return strings.Join(s, ", ")
}
