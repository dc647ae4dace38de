package synth_test

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"github.com/rocescope/rocescope/analysis"
	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/capture"
	"github.com/rocescope/rocescope/decode/ib"
	"github.com/rocescope/rocescope/pcaps/synth"
)

// What the simulator puts on the wire must keep the rules of the transport,
// whatever the scenario.

func TestTimesNeverRunBackwards(t *testing.T) {
	eachSample(t, func(t *testing.T, _ *synth.Scenario, c *synth.Capture) {
		for i := 1; i < len(c.Frames); i++ {
			if c.Frames[i].Time < c.Frames[i-1].Time {
				t.Errorf("frame %d is earlier than the one before", i+1)
			}
		}
	})
}

func TestIPv4IDsRise(t *testing.T) {
	p := packets(t, synth.Run(plain(synth.AtHost(1))))
	last := map[[16]byte]uint16{}
	for i := range p {
		if id, ok := last[p[i].Src]; ok && p[i].IPID != id+1 {
			t.Errorf("frame %d: ID %d follows %d", i+1, p[i].IPID, id)
		}
		last[p[i].Src] = p[i].IPID
	}
}

// plain is a connection that does a bit of everything, with some faults.
func plain(tap synth.Tap, faults ...synth.Fault) *synth.Scenario {
	return &synth.Scenario{
		Seed: 99, Tap: tap, Faults: faults,
		Connections: []synth.Connection{{From: 1, To: 2, Work: []synth.Work{
			synth.Write(1500).Times(4).Every(15 * time.Microsecond),
			synth.Send(700).Times(4).Every(20 * time.Microsecond),
			synth.Read(900).Times(3).Every(25 * time.Microsecond),
			synth.FetchAdd().Times(2).Every(30 * time.Microsecond),
		}}},
	}
}

func TestEverythingArrivesInTheEnd(t *testing.T) {
	for _, chance := range []float64{0.01, 0.1, 0.3} {
		s := plain(synth.AtHost(1), synth.Lose(synth.Everything().ByChance(chance)).AfterTap())
		s.Connections[0].AckTimeout = 6
		s.Connections[0].ByCM = false
		var high ib.PSN
		done := false
		for _, p := range packets(t, synth.Run(s)) {
			if p.Op.Is(ib.IsRequest) {
				high = max(high, p.PSN)
			} else if p.PSN == high {
				done = true
			}
		}
		if !done {
			t.Errorf("with a loss of %v the last request was never answered", chance)
		}
	}
}

func TestMarksDrawCNPs(t *testing.T) {
	s := plain(synth.AtHost(2), synth.Mark(synth.Requests(1).Number(3)))
	for i, p := range packets(t, synth.Run(s)) {
		if p.Op == ib.CNP {
			if !p.BECN || p.DSCP != 48 || p.PSN != 0 || p.Len != 74 {
				t.Errorf("frame %d is no proper CNP: %+v", i+1, p)
			}
			return
		}
	}
	t.Error("there is no CNP")
}

func TestBothWaysHaveThePortOfTheFormula(t *testing.T) {
	s := plain(synth.Tap{})
	ps := packets(t, synth.Run(s))
	want := analysis.SourcePort(ps[0].QP, 0x110)
	for i, p := range ps {
		if p.SrcPort != want {
			t.Errorf("frame %d: source port %d, want %d", i+1, p.SrcPort, want)
		}
	}
}

func TestManagementTellsOfTheConnection(t *testing.T) {
	s := plain(synth.AtHost(1))
	s.Connections[0].ByCM = true
	c := synth.Run(s)
	ps := packets(t, c)
	var attrs []string
	var req, rep ib.CM
	for i, p := range ps {
		if p.QP != ib.GSIQP {
			continue
		}
		m, ok := ib.ParseCM(c.Frames[i].Data[p.PayloadOff:][:p.PayloadLen])
		if !ok || p.PayloadLen != ib.MADLen {
			t.Fatalf("frame %d: no message of connection management", i+1)
		}
		attrs = append(attrs, m.Attr.String())
		switch m.Attr {
		case ib.AttrREQ:
			req = m
		case ib.AttrREP:
			rep = m
		}
	}
	if want := []string{"REQ", "REP", "RTU", "DREQ", "DREP"}; !slices.Equal(attrs, want) {
		t.Fatalf("messages %v, want %v", attrs, want)
	}
	for i, p := range ps {
		if p.QP == rep.QPN {
			if p.PSN != rep.StartPSN || p.SrcPort != analysis.FlowLabelPort(req.FlowLabel) {
				t.Errorf("frame %d: PSN %d and port %d, where REQ and REP promise others", i+1, p.PSN, p.SrcPort)
			}
			return
		}
	}
}

func TestEqualScenariosGiveEqualFiles(t *testing.T) {
	again := synth.Samples()
	for i, s := range synth.Samples() {
		if a, b := written(t, s), written(t, again[i]); !bytes.Equal(a, b) {
			t.Errorf("%s: two runs differ", s.Name)
		}
		again[i].Seed += 1000
		if a, b := written(t, s), written(t, again[i]); bytes.Equal(a, b) {
			t.Errorf("%s: another seed changes nothing", s.Name)
		}
	}
}

func written(t *testing.T, s *synth.Scenario) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := synth.Run(s).Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestFilesHoldWhatTheTapSaw(t *testing.T) {
	for _, s := range synth.Samples() {
		c := synth.Run(s)
		f, err := capture.NewReader(s.Name, bytes.NewReader(written(t, s)))
		if err != nil {
			t.Fatal(err)
		}
		var frame decode.Frame
		n := 0
		for ; f.Read(&frame) == nil; n++ {
			want := &c.Frames[n]
			data := want.Data
			if s.File.SnapLen > 0 {
				data = data[:min(s.File.SnapLen, len(data))]
			}
			if !bytes.Equal(frame.Data, data) || frame.Len != want.Len || want.Time-frame.Time > 999 || want.Time < frame.Time {
				t.Fatalf("%s: frame %d differs", s.Name, n+1)
			}
		}
		if n != len(c.Frames) || len(f.Damage()) > 0 {
			t.Errorf("%s: %d of %d frames, damage %v", s.Name, n, len(c.Frames), f.Damage())
		}
	}
}
