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

// rooms are the bytes that messages have for private data.
var rooms = map[ib.CMAttr]int{
	ib.AttrREQ: 92, ib.AttrMRA: 222, ib.AttrREJ: 148, ib.AttrREP: 196, ib.AttrRTU: 224, ib.AttrDREQ: 220, ib.AttrDREP: 224,
}

func (c *conn) clientPort() uint16 { return clientPort + uint16(c.number) + 1000*uint16(c.round) }

func (c *conn) flowLabel() uint32 {
	return (uint32(c.clientPort())*31 + servicePort) & 0xFFFFF
}

// manage sends a message of connection management, with what the application
// says in it.
func (c *conn) manage(e *endpoint, attr ib.CMAttr, body gopacket.SerializableLayer, private []byte, arrive func()) {
	h := e.host
	bth := ib.BTH{Opcode: ib.Of(ib.UD, ib.SendOnly), MigReq: true, PKey: 0xFFFF, DestQP: ib.GSIQP, PSN: h.gsi.psn}
	h.gsi.psn = h.gsi.psn.Add(1)
	mad := ib.MAD{BaseVersion: 1, Class: ib.ClassCM, ClassVersion: ib.ClassVersionCM, Method: ib.MethodSend, TransactionID: c.transaction(attr), AttrID: uint16(attr)}
	h.urgent = append(h.urgent, &packet{
		from: h, to: e.peer.host, conn: c, kind: isManagement, bth: bth,
		ext:     []gopacket.SerializableLayer{&roce.DETH{DETH: ib.DETH{QKey: ib.GSIQKey, SrcQP: ib.GSIQP}}, &roce.MAD{MAD: mad}, body},
		payload: append(private, make([]byte, rooms[attr]-len(private))...),
		port:    c.port, dscp: dataClass, ecn: decode.ECT0, number: c.message(attr),
		arrive: func(p *packet) {
			if p.damaged {
				c.world.drop(p)
				return
			}
			arrive()
		},
	})
	h.wake(0)
}

// attr is which message of connection management a packet is; 0 none.
func (p *packet) attr() ib.CMAttr {
	if p.kind != isManagement {
		return 0
	}
	return ib.CMAttr(p.ext[1].(*roce.MAD).AttrID)
}

// message counts the messages of a kind.
func (c *conn) message(attr ib.CMAttr) int {
	c.messages[attr]++
	return c.messages[attr]
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
		LocalQPN: c.a.qpn, ResponderResources: readDepth, InitiatorDepth: readDepth, RemoteCMTimeout: c.Setup.timeout(), LocalCMTimeout: c.Setup.timeout(),
		TransportType: uint8(c.Transport >> 5), StartPSN: c.b.first, RetryCount: retries, PKey: 0xFFFF,
		PathMTU: ib.MTUOf(c.mtu()), RNRRetry: 7, MaxCMRetries: uint8(c.Setup.retries()), Primary: path,
	}
}

func (c *conn) rep() ib.REP {
	return ib.REP{
		LocalCommID: c.ids[1], RemoteCommID: c.ids[0], LocalQPN: c.b.qpn, StartPSN: c.a.first,
		ResponderResources: readDepth, InitiatorDepth: readDepth, TargetAckDelay: 1, Failover: 1, RNRRetry: c.rnrRetry(),
		LocalCAGUID: uint64(c.b.host.number),
	}
}

// rnrRetry is what To asks of From's queue pair: each end says it of the other.
func (c *conn) rnrRetry() uint8 {
	if n := c.rnrTries(); n > 0 {
		return uint8(n - 1)
	}
	return 7
}

// rej refuses the request. Where nobody listens, there is no ID of To.
func (c *conn) rej() ib.REJ {
	id := c.ids[1]
	if c.Setup.Rejected == ib.REJInvalidServiceID {
		id = 0
	}
	return ib.REJ{LocalCommID: id, RemoteCommID: c.ids[0], Reason: c.Setup.Rejected}
}

// excuse is what an application says in a REJ, where it is asked at all.
func excuse(why ib.REJReason) []byte {
	if why != ib.REJConsumerDefined {
		return nil
	}
	return []byte(greeting)
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
