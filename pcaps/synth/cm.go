package synth

import (
	"net/netip"

	"github.com/google/gopacket"
	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/ib"
	"github.com/rocescope/rocescope/decode/roce"
)

// The ports that the applications of a connection use; the flow label follows
// from both.
const (
	servicePort = 20049
	clientPort  = 45000 // plus the number of the connection
)

// greeting is what applications say in private data, behind RDMA-CM's header.
const greeting = "rocescope sample"

// gsi is the management queue pair of a host.
type gsi struct{ psn ib.PSN }

func (c *conn) clientPort() uint16 { return clientPort + uint16(c.number) }

func (c *conn) flowLabel() uint32 {
	return (uint32(c.clientPort())*31 + servicePort) & 0xFFFFF
}

// request opens the connection: REQ, REP, RTU. Each side works once it knows
// that the other is ready.
func (c *conn) request() {
	c.manage(c.a, ib.AttrREQ, &roce.REQ{REQ: c.req()}, c.rdmaCM(), 92, func(*packet) {
		c.manage(c.b, ib.AttrREP, &roce.REP{REP: c.rep()}, []byte(greeting), 196, func(*packet) {
			rtu := &roce.RTU{RTU: ib.RTU{LocalCommID: c.ids[0], RemoteCommID: c.ids[1]}}
			c.manage(c.a, ib.AttrRTU, rtu, nil, 224, func(*packet) { c.b.post(c.Back) })
			c.a.post(c.Work)
		})
	})
}

// disconnect closes it: DREQ, DREP.
func (c *conn) disconnect() {
	dreq := &roce.DREQ{DREQ: ib.DREQ{LocalCommID: c.ids[0], RemoteCommID: c.ids[1], RemoteQPN: c.b.qpn}}
	c.manage(c.a, ib.AttrDREQ, dreq, nil, 220, func(*packet) {
		drep := &roce.DREP{DREP: ib.DREP{LocalCommID: c.ids[1], RemoteCommID: c.ids[0]}}
		c.manage(c.b, ib.AttrDREP, drep, nil, 224, func(*packet) {})
	})
}

// manage sends a message of connection management, whose private data has room
// bytes.
func (c *conn) manage(e *endpoint, attr ib.CMAttr, body gopacket.SerializableLayer, private []byte, room int, arrive func(*packet)) {
	h := e.host
	bth := ib.BTH{Opcode: ib.Of(ib.UD, ib.SendOnly), MigReq: true, PKey: 0xFFFF, DestQP: ib.GSIQP, PSN: h.gsi.psn}
	h.gsi.psn = h.gsi.psn.Add(1)
	mad := ib.MAD{BaseVersion: 1, Class: ib.ClassCM, ClassVersion: ib.ClassVersionCM, Method: ib.MethodSend, TransactionID: c.transaction(attr), AttrID: uint16(attr)}
	h.urgent = append(h.urgent, &packet{
		from: h, to: e.peer.host, conn: c, kind: isManagement, bth: bth,
		ext:     []gopacket.SerializableLayer{&roce.DETH{DETH: ib.DETH{QKey: ib.GSIQKey, SrcQP: ib.GSIQP}}, &roce.MAD{MAD: mad}, body},
		payload: append(private, make([]byte, room-len(private))...),
		port:    c.port, dscp: dataClass, ecn: decode.ECT0, arrive: arrive,
	})
	h.wake(0)
}

// transaction is the same in a question and its answers.
func (c *conn) transaction(attr ib.CMAttr) uint64 {
	id := uint64(c.ids[0])
	if attr == ib.AttrDREQ || attr == ib.AttrDREP {
		id |= 1 << 32
	}
	return id
}

func (c *conn) req() ib.REQ {
	path := ib.Path{
		LocalLID: 0xFFFF, RemoteLID: 0xFFFF, LocalGID: gid(c.a.host.addr), RemoteGID: gid(c.b.host.addr),
		FlowLabel: c.flowLabel(), TrafficClass: dataClass << 2, HopLimit: 64, AckTimeout: c.ackTimeout(),
	}
	return ib.REQ{
		LocalCommID: c.ids[0], ServiceID: ib.ServiceIDOf(ib.PortSpaceTCP, servicePort), LocalCAGUID: uint64(c.a.host.number),
		LocalQPN: c.a.qpn, ResponderResources: readDepth, InitiatorDepth: readDepth, RemoteCMTimeout: 20, LocalCMTimeout: 20,
		TransportType: uint8(c.Transport >> 5), StartPSN: c.b.req.una, RetryCount: retries, PKey: 0xFFFF,
		PathMTU: ib.MTUOf(c.mtu()), RNRRetry: 7, MaxCMRetries: 15, Primary: path,
	}
}

func (c *conn) rep() ib.REP {
	return ib.REP{
		LocalCommID: c.ids[1], RemoteCommID: c.ids[0], LocalQPN: c.b.qpn, StartPSN: c.a.req.una,
		ResponderResources: readDepth, InitiatorDepth: readDepth, TargetAckDelay: 1, Failover: 1, RNRRetry: 7,
		LocalCAGUID: uint64(c.b.host.number),
	}
}

// rdmaCM is the private data of a REQ.
func (c *conn) rdmaCM() []byte {
	h := ib.RDMACM{IPVersion: 4, SrcPort: c.clientPort(), Src: private(c.a.host.addr), Dst: private(c.b.host.addr)}
	if c.a.host.addr.Is6() {
		h.IPVersion = 6
	}
	return append(h.Append(nil), greeting...)
}

// private writes an address as RDMA-CM does: IPv4 in the last four bytes.
func private(a netip.Addr) ib.GID {
	var g ib.GID
	copy(g[16-a.BitLen()/8:], a.AsSlice())
	return g
}
