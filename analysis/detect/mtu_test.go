package detect

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/rocescope/rocescope/analysis/report"
	"github.com/rocescope/rocescope/decode/ib"
)

// message sends a WRITE towards QP qp of a host, a packet for each size.
func (w *wire) message(src, dst byte, qp uint32, psn ib.PSN, sizes ...int) {
	for i, size := range sizes {
		p := packet{src: src, dst: dst, op: ib.Of(ib.RC, ib.WriteMiddle), qp: qp, psn: psn.Add(int32(i)), payload: size}
		switch {
		case len(sizes) == 1:
			p.op, p.ext = writeOnly, reth(0, 1, uint32(size))
		case i == 0:
			p.op, p.ext = ib.Of(ib.RC, ib.WriteFirst), reth(0, 1, 1)
		case i == len(sizes)-1:
			p.op = ib.Of(ib.RC, ib.WriteLast)
		}
		w.send(p)
	}
}

// retried sends a message some times, a timer apart.
func (w *wire) retried(n int, qp uint32, psn ib.PSN, sizes ...int) {
	for range n {
		w.message(1, 2, qp, psn, sizes...)
		w.wait(4_000 * usec)
	}
}

// read asks host 2 for so many bytes, and has them sent in packets of the sizes.
func (w *wire) read(psn ib.PSN, bytes uint32, sizes ...int) {
	w.send(packet{src: 1, dst: 2, op: ib.Of(ib.RC, ib.ReadRequest), qp: 0x12, psn: psn, ext: reth(0, 1, bytes)})
	for i, size := range sizes {
		p := packet{src: 2, dst: 1, op: ib.Of(ib.RC, ib.ReadResponseMiddle), qp: 0x112, psn: psn.Add(int32(i)), payload: size}
		switch {
		case len(sizes) == 1:
			p.op, p.ext = ib.Of(ib.RC, ib.ReadResponseOnly), aeth(0x1F)
		case i == 0:
			p.op, p.ext = ib.Of(ib.RC, ib.ReadResponseFirst), aeth(0x1F)
		case i == len(sizes)-1:
			p.op, p.ext = ib.Of(ib.RC, ib.ReadResponseLast), aeth(0x1F)
		}
		w.send(p)
	}
}

func TestBlackHoleIsToldBySize(t *testing.T) {
	for _, test := range []struct {
		desc       string
		confidence report.Confidence
		largest    int64 // arrived
		least      int64 // sent in vain
		play       func(*wire)
	}{
		{"full packets only, and nothing after them", report.Possible, 44 + 16 + 64, 44 + 16 + 2048, func(w *wire) {
			w.acked(0, 5)
			w.retried(5, 0x12, 5, 2048, 2048)
		}},
		{"another queue pair goes on with small ones", report.Possible, 44 + 16 + 64, 44 + 16 + 2048, func(w *wire) {
			w.acked(0, 5)
			w.message(1, 2, 0x12, 5, 2048, 2048)
			w.write(1, 2, 0x13, 7)
			w.wait(4_000 * usec)
			w.retried(4, 0x12, 5, 2048, 2048)
		}},
		{"two queue pairs do not get through, and another one goes on", report.Likely, 44 + 16 + 64, 44 + 16 + 2048, func(w *wire) {
			w.acked(0, 5)
			w.write(1, 2, 0x13, 4)
			w.write(1, 2, 0x13, 5)
			for i := range 5 {
				w.message(1, 2, 0x12, 5, 2048, 2048)
				w.message(1, 2, 0x13, 6, 2048, 2048)
				w.write(1, 2, 0x14, ib.PSN(i))
				w.wait(4_000 * usec)
			}
		}},
		{"the short end of the message draws a NAK", report.Likely, 44 + 500, 44 + 16 + 2048, func(w *wire) {
			w.acked(0, 5)
			w.message(1, 2, 0x12, 5, 2048, 2048, 500)
			w.nak(5)
			w.retried(5, 0x12, 5, 2048, 2048, 500)
		}},
		{"behind the narrow link only the ends of messages are seen", report.Likely, 44 + 500, 0, func(w *wire) {
			w.acked(0, 5)
			for range 5 {
				w.send(packet{src: 1, dst: 2, op: ib.Of(ib.RC, ib.WriteLast), qp: 0x12, psn: 7, payload: 500})
				w.nak(5)
				w.wait(4_000 * usec)
			}
		}},
	} {
		t.Run(test.desc, func(t *testing.T) {
			w := newWire()
			test.play(w)
			f := finding(t, findings(t, w), "mtu.blackhole")
			if f.Severity != report.Critical || f.Confidence != test.confidence {
				t.Errorf("%s, %s: %s", f.Severity, f.Confidence, f.Summary)
			}
			if f.Values["largest_arrived_bytes"] != test.largest || f.Values["smallest_unanswered_bytes"] != test.least || f.Values["likely_mtu"] != 1500 {
				t.Errorf("%v, want up to %d and from %d bytes on", f.Values, test.largest, test.least)
			}
		})
	}
}

func TestNoBlackHoleWhereSizeDoesNotDecide(t *testing.T) {
	for desc, play := range map[string]func(*wire){
		"packets as large arrived before": func(w *wire) {
			w.acked(0, 5)
			w.message(1, 2, 0x12, 5, 2048, 2048)
			w.answer(2, 1, 0x112, 6, 0x1F)
			w.retried(5, 0x12, 7, 2048, 2048)
		},
		"as large ones arrived in another queue pair": func(w *wire) {
			w.acked(0, 5)
			w.message(1, 2, 0x13, 5, 2048, 2048)
			w.answer(2, 1, 0x113, 6, 0x1F)
			w.retried(5, 0x12, 5, 2048, 2048)
		},
		"small ones are not answered either": func(w *wire) {
			w.acked(0, 5)
			w.write(1, 2, 0x13, 5)
			for range 5 {
				w.message(1, 2, 0x12, 5, 2048, 2048)
				w.message(1, 2, 0x13, 6, 64)
				w.wait(4_000 * usec)
			}
		},
		"the short end of the message draws no NAK": func(w *wire) {
			w.acked(0, 5)
			w.retried(5, 0x12, 5, 2048, 2048, 20)
		},
		"the queue pair never answered anything": func(w *wire) {
			w.acked(0, 5)
			w.retried(5, 0x14, 5, 2048, 2048)
		},
		"it arrives in the end": func(w *wire) {
			w.acked(0, 5)
			w.retried(5, 0x12, 5, 2048, 2048)
			w.answer(2, 1, 0x112, 6, 0x1F)
		},
		"so small that every link carries it": func(w *wire) {
			w.acked(0, 5)
			w.retried(5, 0x12, 5, 256, 256)
		},
		"two sendings": func(w *wire) {
			w.acked(0, 5)
			w.retried(2, 0x12, 5, 2048, 2048)
		},
		"it arrives, and the receiver has no buffer": func(w *wire) {
			w.acked(0, 5)
			for range 5 {
				w.message(1, 2, 0x12, 5, 2048, 2048)
				w.answer(2, 1, 0x112, 5, 0x20|14)
				w.wait(1_300 * usec)
			}
		},
	} {
		t.Run(desc, func(t *testing.T) {
			w := newWire()
			play(w)
			silent(t, findings(t, w), "mtu.blackhole")
		})
	}
}

func TestBlackHoleOfREADResponses(t *testing.T) {
	for desc, play := range map[string]func(*wire){
		"the tap is at the responder": func(w *wire) {
			for range 5 {
				w.read(5, 8192, 4096, 4096)
				w.wait(4_000 * usec)
			}
		},
		"the tap is at the requester": func(w *wire) {
			for range 5 {
				w.read(5, 8192)
				w.wait(4_000 * usec)
			}
		},
		"the tap is at the requester, and several are under way": func(w *wire) {
			for range 5 {
				w.read(5, 8192)
				w.read(7, 8192)
				w.wait(4_000 * usec)
			}
		},
		"the tap is at the requester, and ends of messages come": func(w *wire) {
			for range 5 {
				w.read(5, 8200)
				w.send(packet{src: 2, dst: 1, op: ib.Of(ib.RC, ib.ReadResponseLast), qp: 0x112, psn: 7, ext: aeth(0x1F), payload: 8})
				w.wait(4_000 * usec)
			}
		},
	} {
		t.Run(desc, func(t *testing.T) {
			w := newWire()
			w.read(0, 100, 100)
			w.read(1, 100, 100)
			w.read(2, 100, 100)
			w.read(3, 100, 100)
			w.read(4, 200, 200)
			play(w)
			f := finding(t, findings(t, w), "mtu.blackhole")
			if f.Severity != report.Critical || !strings.Contains(f.Summary, "from 10.0.0.2 do not reach 10.0.0.1") || f.Values["largest_arrived_bytes"] != 44+4+200 {
				t.Errorf("%s %s: %v", f.Severity, f.Summary, f.Values)
			}
		})
	}
}

func TestREADsThatAreNeverAnsweredMayBeOfAnySize(t *testing.T) {
	w := newWire()
	w.acked(0, 5)
	w.message(2, 1, 0x112, 1, 64)
	w.answer(1, 2, 0x12, 1, 0x1F)
	for range 5 {
		w.read(5, 8192)
		w.wait(4_000 * usec)
	}
	if f := finding(t, findings(t, w), "mtu.blackhole"); f.Severity != report.Info || f.Confidence != report.Possible {
		t.Errorf("%s, %s: %s", f.Severity, f.Confidence, f.Summary)
	}
}

func TestOnlyMessagesOfOnePacketPass(t *testing.T) {
	play := func(only int, longer bool) *report.Report {
		w := newWire()
		for psn := range ib.PSN(5) {
			w.message(1, 2, 0x12, psn, only)
			w.answer(2, 1, 0x112, psn, 0x1F)
		}
		if longer {
			w.message(1, 2, 0x13, 5, 512, 512)
			w.answer(2, 1, 0x113, 6, 0x1F)
		}
		w.message(1, 2, 0x12, 5, 1024, 1024)
		w.write(1, 2, 0x14, 1)
		w.wait(4_000 * usec)
		w.retried(4, 0x12, 5, 1024, 1024)
		return findings(t, w)
	}
	r := play(2048, false)
	f := finding(t, r, "mtu.only-opcodes")
	if f.Severity != report.Notice || f.Values["largest_arrived_bytes"] != 44+16+2048 {
		t.Errorf("%s %s: %v", f.Severity, f.Summary, f.Values)
	}
	silent(t, r, "mtu.blackhole")
	silent(t, play(2048, true), "mtu.only-opcodes")
	silent(t, play(512, false), "mtu.only-opcodes")
}

// req sends the REQ of a connection from queue pair qp.
func (w *wire) mtuReq(src, dst byte, qp uint32, mtu int) {
	d := ib.DETH{QKey: ib.GSIQKey, SrcQP: 1}
	mad := ib.MAD{BaseVersion: 1, Class: ib.ClassCM, ClassVersion: ib.ClassVersionCM, Method: ib.MethodSend, AttrID: uint16(ib.AttrREQ)}
	h := ib.REQ{LocalCommID: 7, LocalQPN: qp, PathMTU: ib.MTUOf(mtu)}
	b := h.Append(mad.Append(d.Append(nil)))
	w.send(packet{src: src, dst: dst, op: ib.Of(ib.UD, ib.SendOnly), qp: 1, ext: append(b, make([]byte, ib.DETHLen+ib.MADLen-len(b))...)})
}

func TestPathMTUsThatDoNotFit(t *testing.T) {
	// both has 10.0.0.1 and 10.0.0.2 write on one connection.
	both := func(w *wire, qp uint32, ours, theirs int) {
		for psn := ib.PSN(0); psn < 6; psn += 2 {
			w.message(1, 2, qp, psn, ours, 100)
			w.answer(2, 1, qp+0x100, psn+1, 0x1F)
			w.message(2, 1, qp+0x100, 700+psn, theirs, 100)
			w.answer(1, 2, qp, 700+psn+1, 0x1F)
		}
	}
	for _, test := range []struct {
		desc     string
		severity report.Severity // empty: nothing is said
		value    string          // and what it holds
		want     int64
		play     func(*wire)
	}{
		{"both ends alike", "", "", 0, func(w *wire) { both(w, 0x12, 1024, 1024) }},
		{"the two ends differ", report.Warning, "peer_path_mtu", 1024, func(w *wire) { both(w, 0x12, 4096, 1024) }},
		{"two connections differ", report.Info, "flows_4096", 1, func(w *wire) {
			both(w, 0x12, 1024, 1024)
			w.message(1, 2, 0x13, 0, 4096, 100)
		}},
		{"two connections differ, and one size is refused", report.Warning, "refused_mtu", 4096, func(w *wire) {
			both(w, 0x12, 1024, 1024)
			w.write(1, 2, 0x13, 0)
			w.message(1, 2, 0x13, 1, 4096, 100)
			w.answer(2, 1, 0x113, 1, ib.NAKInvalidRequest)
		}},
		{"the first full packet is refused", report.Info, "path_mtu", 4096, func(w *wire) {
			w.acked(0, 3)
			w.message(1, 2, 0x12, 3, 4096, 100)
			w.answer(2, 1, 0x112, 3, ib.NAKInvalidRequest)
		}},
		{"connection management agreed on that much", "", "", 0, func(w *wire) {
			w.mtuReq(2, 1, 0x12, 1024)
			both(w, 0x12, 1024, 1024)
		}},
		{"connection management agreed on less", report.Warning, "negotiated_mtu", 1024, func(w *wire) {
			w.mtuReq(2, 1, 0x12, 1024)
			w.message(1, 2, 0x12, 0, 2048, 100)
		}},
		{"an earlier connection of the same number agreed on less", "", "", 0, func(w *wire) {
			w.mtuReq(2, 1, 0x12, 1024)
			w.wait(1_000_000 * usec)
			w.mtuReq(2, 1, 0x12, 2048)
			w.message(1, 2, 0x12, 0, 2048, 100)
		}},
	} {
		t.Run(test.desc, func(t *testing.T) {
			w := newWire()
			test.play(w)
			r := findings(t, w)
			if test.severity == "" {
				silent(t, r, "mtu.mismatch")
				return
			}
			for _, f := range r.Findings {
				if f.Rule == "mtu.mismatch" && f.Severity == test.severity && f.Values[test.value] == test.want {
					return
				}
			}
			t.Errorf("no %s with %s %d in %+v", test.severity, test.value, test.want, r.Findings)
		})
	}
}

// TestLargestThatArrived holds climb against a list of all packets.
func TestLargestThatArrived(t *testing.T) {
	d := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		var c climb
		var sizes []int64
		acked, want := 0, int64(0)
		for range 40 {
			if d.IntN(3) > 0 {
				sizes = append(sizes, d.Int64N(5)) // fewer sizes than it can hold
				c.sent(ib.PSN(0xFFFFF0).Add(int32(len(sizes)-1)), sizes[len(sizes)-1])
				continue
			}
			for upTo := acked + d.IntN(len(sizes)-acked+1); acked < upTo; acked++ {
				want = max(want, sizes[acked])
			}
			c.upTo(ib.PSN(0xFFFFF0).Add(int32(acked)))
			if c.arrived != want {
				t.Fatalf("%d arrived of %v up to %d, not %d", want, sizes, acked, c.arrived)
			}
		}
	}
}
