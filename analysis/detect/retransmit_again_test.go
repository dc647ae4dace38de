package detect

import "testing"

func TestConnectedAnew(t *testing.T) {
	h := hosts{"10.0.0.1", "10.0.0.2"}
	ups := setUps{h: {100, 5_000_000, 9_000_000}, hosts{"10.0.0.1", "10.0.0.3"}: {6_000_000}}
	for _, test := range []struct {
		desc  string
		ends  []int64 // of the rows that were given up
		want  string
		times int64
	}{
		{"after the first of two", []int64{8_000_000, 4_000_000}, " 1 ms later the two connected anew, 2 times in this capture.", 2},
		{"after the only one", []int64{8_000_000}, " 1 ms later the two connected anew, 1 time in this capture.", 1},
		{"never again", []int64{9_000_000}, "", 0},
	} {
		var rows []*stuckRow
		for _, ns := range test.ends {
			rows = append(rows, &stuckRow{last: ns})
		}
		if text, times := ups.again(h, rows); text != test.want || times != test.times {
			t.Errorf("%s: %q, %d; want %q, %d", test.desc, text, times, test.want, test.times)
		}
	}
	if text, _ := ups.again(h.back(), []*stuckRow{{last: 1}}); text != "" {
		t.Errorf("a pair without connection management: %q", text)
	}
}
