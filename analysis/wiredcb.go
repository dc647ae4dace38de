package analysis

import (
	"fmt"
	"net"

	"github.com/rocescope/rocescope/analysis/report"
	"github.com/rocescope/rocescope/decode"
)

// dcbs are the newest data centre bridging settings of each sender.
type dcbs map[[6]byte]decode.DCB

func (w dcbs) learn(p *decode.Packet, f *decode.Frame) {
	if int(p.PayloadOff) > len(f.Data) {
		return
	}
	if d, ok := decode.ParseDCB(f.Data[p.PayloadOff:]); ok && len(w) < wireTablesMax {
		w[p.SrcMAC] = d
	}
}

func macText(mac [6]byte) string { return net.HardwareAddr(mac[:]).String() }

// pfcTable says which priorities each sender of LLDP means to be lossless.
func (w dcbs) pfcTable() report.Table {
	t := report.Table{Name: report.DCBTable, Help: "Priorities with PFC as LLDP announces them, a bit for each.", Keys: []string{"mac"},
		Columns: []report.Column{{Name: "pfc", Kind: report.Peak}}}
	for mac, d := range w {
		if d.Has&decode.DCBPFC != 0 {
			t.Rows = append(t.Rows, report.Row{Key: []string{macText(mac)}, Values: []int64{int64(d.PFCEnabled)}})
		}
	}
	return t
}

// etsTable says how each sender shares its bandwidth.
func (w dcbs) etsTable() report.Table {
	t := report.Table{Name: report.ETSTable, Help: "Traffic classes as LLDP announces them: the share of bandwidth of each, and its priorities, a bit for each.",
		Keys: []string{"mac", "class"}, Columns: []report.Column{{Name: "percent", Unit: "percent", Kind: report.Peak}, {Name: "priorities", Kind: report.Peak}}}
	for mac, d := range w {
		if d.Has&decode.DCBETS == 0 {
			continue
		}
		for class, share := range d.Share {
			var bits int64
			for priority, of := range d.Class {
				if int(of) == class {
					bits |= 1 << priority
				}
			}
			if share != 0 || bits != 0 {
				t.Rows = append(t.Rows, report.Row{Key: []string{macText(mac), fmt.Sprint(class)}, Values: []int64{int64(share), bits}})
			}
		}
	}
	return t
}

// appTable says which priority each sender wants applications to use.
func (w dcbs) appTable() report.Table {
	t := report.Table{Name: report.AppTable, Help: "Priorities of applications as LLDP announces them, a bit for each.", Keys: []string{"mac", "application"},
		Columns: []report.Column{{Name: "priorities", Kind: report.Peak}}}
	for mac, d := range w {
		bits := map[string]int64{} // a sender may contradict itself
		for _, a := range d.Apps[:d.NumApps] {
			bits[appName(a)] |= 1 << a.Priority
		}
		for name, b := range bits {
			t.Rows = append(t.Rows, report.Row{Key: []string{macText(mac), name}, Values: []int64{b}})
		}
	}
	return t
}

func appName(a decode.DCBApp) string {
	if a.Selector == decode.ByEtherType {
		return fmt.Sprintf("EtherType 0x%04X", a.Protocol)
	}
	return fmt.Sprintf("%v %d", a.Selector, a.Protocol)
}
