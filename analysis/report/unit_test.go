package report

import (
	"math"
	"testing"
)

func TestUnits(t *testing.T) {
	for _, test := range []struct{ desc, got, want string }{
		{"no time", Duration(0), "0 ns"},
		{"nanoseconds", Duration(820), "820 ns"},
		{"microseconds keep three digits", Duration(1_234), "1.23 µs"},
		{"zeros at the end go", Duration(5_000_000), "5 ms"},
		{"one decimal from ten on", Duration(16_777_216), "16.8 ms"},
		{"none from a hundred on", Duration(655_360_000), "655 ms"},
		{"rounding up reaches the next unit", Duration(999_600), "1 ms"},
		{"seconds", Duration(2_000_000_000), "2 s"},
		{"minutes", Duration(90e9), "1 min 30 s"},
		{"a full minute", Duration(60e9), "1 min"},
		{"hours", Duration(3_900e9), "1 h 5 min"},
		{"days", Duration(90_000e9), "1 d 1 h"},
		{"time runs backwards", Duration(-1500), "-1.5 µs"},
		{"the longest way back", Duration(math.MinInt64), "-106751 d 23 h"},

		{"three digits need no comma", Count(847), "847"},
		{"thousands", Count(12847), "12,847"},
		{"millions", Count(1000000), "1,000,000"},
		{"negative", Count(-1234), "-1,234"},
		{"one of them", Counted(1, "packet"), "1 packet"},
		{"none of them", Counted(0, "packet"), "0 packets"},
		{"many of them", Counted(12847, "packet"), "12,847 packets"},
		{"y becomes ies", Counted(2, "retry"), "2 retries"},
		{"ay does not", Counted(2, "delay"), "2 delays"},

		{"short stays exact below a thousand", Short(999), "999"},
		{"short thousands", Short(12847), "12.8k"},
		{"short millions", Short(3_100_000), "3.1M"},
		{"bytes", Bytes(812), "812 B"},
		{"megabytes", Bytes(9_812_345), "9.81 MB"},

		{"no share", Share(0, 10), "0 %"},
		{"a share of nothing", Share(0, 0), "0 %"},
		{"a share too small to write", Share(1, 1_000_000), "<0.01 %"},
		{"below one percent", Share(3, 1000), "0.3 %"},
		{"some percent", Share(35, 1000), "3.5 %"},
		{"tens of percent", Share(421, 1000), "42 %"},
		{"nearly all", Share(995, 1000), "99.5 %"},
		{"all but one", Share(999_999, 1_000_000), ">99.9 %"},
		{"all", Share(7, 7), "100 %"},

		{"bit rate", BitRate(12_500_000_000, 1e9), "100 Gbit/s"},
		{"no rate without time", BitRate(100, 0), ""},
		{"frame rate", FrameRate(1_200_000, 1e9), "1.2 Mpps"},
		{"offset", Offset(1_204_817_000), "1.204817 s"},
		{"moment", Moment(1_772_366_403_120_000_000), "2026-03-01 12:00:03.120"},
		{"queue pair", QP(210), "QP 0xd2"},
	} {
		if test.got != test.want {
			t.Errorf("%s: %q, want %q", test.desc, test.got, test.want)
		}
	}
}
