package detect

import (
	"cmp"
	"encoding/binary"
	"hash/crc32"
	"math/bits"
	"net/netip"
	"slices"
	"strconv"

	"github.com/rocescope/rocescope/analysis/report"
)

// hashKey is what a switch may hash of a flow, and the bytes that hash so.
type hashKey struct {
	fields [tupleLen + 3]byte // addresses, UDP ports, protocol; and the BTH destination queue pair
	load   int64
}

// tupleLen is the length of the fields without the queue pair.
const tupleLen = 16 + 16 + 2 + 2 + 1

// tuple returns the fields that all switches hash.
func (k *hashKey) tuple() [tupleLen]byte { return [tupleLen]byte(k.fields[:]) }

// hashKeysMax is how many keys a prediction takes, the heaviest first: the rest
// moves no share.
const hashKeysMax = 4096

// hashKeys reads the data by UDP source port and destination queue pair.
func hashKeys(r *report.Report, wanted func(hosts) bool) (keys []hashKey) {
	for _, row := range r.Rows("entropy", "paths") {
		h := hosts{row.Key[0], row.Key[1]}
		if row.Values[2] <= 0 || wanted != nil && !wanted(h) {
			continue
		}
		src, _ := netip.ParseAddr(h.src)
		dst, _ := netip.ParseAddr(h.dst)
		port, _ := strconv.ParseUint(row.Key[2], 10, 16)
		qp, _ := strconv.ParseUint(row.Key[3], 0, 32)
		k := hashKey{load: row.Values[2]}
		s, d := src.As16(), dst.As16()
		b := append(append(k.fields[:0], s[:]...), d[:]...)
		b = binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16(b, uint16(port)), 4791)
		_ = append(b, 17, byte(qp>>16), byte(qp>>8), byte(qp))
		keys = append(keys, k)
	}
	slices.SortStableFunc(keys, func(a, b hashKey) int { return cmp.Compare(b.load, a.load) })
	return keys[:min(len(keys), hashKeysMax)]
}

// hashFamily is a way in which switches turn headers into sixteen bits. What a
// switch really computes is its vendor's secret; the families differ as those do.
type hashFamily struct {
	name string
	hash func([]byte) uint16
}

var hashFamilies = []hashFamily{
	{"CRC16", crc16},
	{"CRC32", func(b []byte) uint16 { return uint16(crc32.ChecksumIEEE(b)) }},
	{"XOR", xorFold},
}

// crc16 is CRC-16/CCITT, bit by bit.
func crc16(b []byte) (c uint16) {
	for _, x := range b {
		c ^= uint16(x) << 8
		for range 8 {
			if c&0x8000 != 0 {
				c = c<<1 ^ 0x1021
			} else {
				c <<= 1
			}
		}
	}
	return c
}

// xorFold folds all bytes to sixteen bits.
func xorFold(b []byte) (x uint16) {
	for i, c := range b {
		x ^= uint16(c) << (8 * (i & 1))
	}
	return x
}

// hashSeeds is how many seeds of each family are tried. A seed is which bits of
// the hash choose the link: one that is only mixed in moves all flows of a CRC
// alike, from link to link.
const hashSeeds = 16

// hottest is the load of the busiest link in hundredths of its fair share, over
// the seeds of one family.
type hottest struct{ least, median, most int64 }

// predict spreads keys over links by one family.
func (f *hashFamily) predict(keys []hashKey, links int, withQP bool) hottest {
	values := make([]uint16, len(keys))
	var sum int64
	for i := range keys {
		fields := keys[i].fields[:]
		if !withQP {
			fields = fields[:tupleLen]
		}
		values[i] = f.hash(fields)
		sum += keys[i].load
	}
	var tries []int64
	loads := make([]int64, links)
	for seed := range hashSeeds {
		clear(loads)
		for i, v := range values {
			loads[int(bits.RotateLeft16(v, seed))%links] += keys[i].load
		}
		tries = append(tries, hundredths(slices.Max(loads), sum, links))
	}
	slices.Sort(tries)
	return hottest{tries[0], tries[len(tries)/2], tries[len(tries)-1]}
}

// hundredths returns a load in hundredths of the fair share of sum.
func hundredths(load, sum int64, links int) int64 {
	return int64(100*float64(load)*float64(links)/float64(max(1, sum)) + 0.5)
}

// medianOf returns the median over families, of what each expects in the middle.
func medianOf(keys []hashKey, links int, withQP bool) int64 {
	var all []int64
	for i := range hashFamilies {
		all = append(all, hashFamilies[i].predict(keys, links, withQP).median)
	}
	slices.Sort(all)
	return all[len(all)/2]
}
