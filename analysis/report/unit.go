package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Everything a reader sees as a number passes through this file, so that one
// value looks the same in a finding, a table and a page.

// Duration returns a span of time with three digits: "820 ns", "16.8 ms",
// "2 s". From a minute on it counts in two units: "1 min 30 s".
func Duration(ns int64) string {
	switch d := time.Duration(ns); {
	case ns < 0:
		return "-" + Duration(-max(ns, -math.MaxInt64))
	case d >= 24*time.Hour:
		return twoUnits(d, 24*time.Hour, "d", time.Hour, "h")
	case d >= time.Hour:
		return twoUnits(d, time.Hour, "h", time.Minute, "min")
	case d >= time.Minute:
		return twoUnits(d, time.Minute, "min", time.Second, "s")
	}
	return scaled(float64(ns), "ns", "µs", "ms", "s")
}

func twoUnits(d, big time.Duration, bigName string, small time.Duration, smallName string) string {
	text := fmt.Sprintf("%d %s", d/big, bigName)
	if rest := d % big / small; rest > 0 {
		text += fmt.Sprintf(" %d %s", rest, smallName)
	}
	return text
}

// Count returns a number in full: "12,847".
func Count(n int64) string {
	digits := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, digits = "-", digits[1:]
	}
	var b strings.Builder
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return sign + b.String()
}

// Counted returns a number with what it counts, in the plural where it is not
// one: "1 packet", "12,847 packets". The noun is a regular one.
func Counted(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if strings.HasSuffix(noun, "y") && !strings.HasSuffix(noun, "ay") && !strings.HasSuffix(noun, "ey") {
		return Count(n) + " " + strings.TrimSuffix(noun, "y") + "ies"
	}
	return Count(n) + " " + noun + "s"
}

// Are returns the verb for a number of things: "is" for one, else "are".
func Are(n int64) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

// CountedWere returns what Counted does with its verb: "1 packet was", "no"
// things being many: "0 packets were".
func CountedWere(n int64, noun string) string {
	if n == 1 {
		return Counted(n, noun) + " was"
	}
	return Counted(n, noun) + " were"
}

// Short returns a number with three digits for a narrow column: "847",
// "12.8k", "3.1M".
func Short(n int64) string {
	return strings.ReplaceAll(scaled(float64(n), "", "k", "M", "G", "T"), " ", "")
}

// Bytes returns a size with three digits, in powers of ten as link rates are:
// "812 B", "9.81 MB".
func Bytes(n int64) string { return scaled(float64(n), "B", "kB", "MB", "GB", "TB") }

// Share returns a part of a whole: "0.3 %", "42 %". What is not nothing never
// reads as 0 %, nor what is not all as 100 %. Of nothing it is "0 %".
func Share(part, whole int64) string {
	if part == 0 || whole == 0 {
		return "0 %"
	}
	percent := 100 * float64(part) / float64(whole)
	switch {
	case percent < 0.01:
		return "<0.01 %"
	case part < whole && percent > 99.9:
		return ">99.9 %"
	case percent < 1:
		return trimmed(percent, 2) + " %"
	case percent < 10 || percent > 99 && part < whole:
		return trimmed(percent, 1) + " %"
	}
	return trimmed(percent, 0) + " %"
}

// BitRate returns a rate for bytes in some time: "94.3 Gbit/s"; empty where no
// time passed.
func BitRate(bytes, ns int64) string {
	if ns <= 0 {
		return ""
	}
	return scaled(float64(bytes)*8e9/float64(ns), "bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s")
}

// FrameRate returns a rate for frames in some time: "1.2 Mpps"; empty where no
// time passed.
func FrameRate(frames, ns int64) string {
	if ns <= 0 {
		return ""
	}
	return scaled(float64(frames)*1e9/float64(ns), "pps", "kpps", "Mpps", "Gpps")
}

// Offset returns a time since the start of the capture as Wireshark shows it by
// default: "1.204817 s".
func Offset(ns int64) string { return strconv.FormatFloat(float64(ns)/1e9, 'f', 6, 64) + " s" }

// Moment returns a time since the Unix epoch in UTC, to the millisecond.
func Moment(ns int64) string { return time.Unix(0, ns).UTC().Format("2006-01-02 15:04:05.000") }

// QP returns the name of a queue pair: "QP 0xd2".
func QP(n uint32) string { return fmt.Sprintf("QP %#x", n) }

// scaled returns v with three digits in the unit that suits it, each a thousand
// of the one before.
func scaled(v float64, units ...string) string {
	i := 0
	// 999.5 is where three digits round up to the next unit.
	for i < len(units)-1 && math.Abs(v) >= 999.5 {
		v /= 1000
		i++
	}
	decimals := 2
	switch a := math.Abs(v); {
	case a >= 99.95:
		decimals = 0
	case a >= 9.995:
		decimals = 1
	}
	return strings.TrimRight(trimmed(v, decimals)+" "+units[i], " ")
}

// trimmed writes v with so many decimals, less the zeros at the end.
func trimmed(v float64, decimals int) string {
	s := strconv.FormatFloat(v, 'f', decimals, 64)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}
