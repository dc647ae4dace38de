package detect

import (
	"github.com/rocescope/rocescope/analysis"
	"github.com/rocescope/rocescope/analysis/report"
	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/ib"
)

// The columns of the table of connections. Times and frames of what never
// happened are 0.
const (
	cmRequests      = iota // REQ and SIDR_REQ, repeats included
	cmDelays               // MRA of the server
	cmReplies              // REP, and SIDR_REP that grant
	cmReady                // RTU
	cmClientRejects        // REJ of the client
	cmServerRejects        // REJ of the server, and SIDR_REP that refuse
	cmCloses               // DREQ
	cmClosed               // DREP
	cmReused               // queue pair numbers that an earlier connection of the two had
	cmState
	cmClientQP
	cmServerQP
	cmPathMTU
	cmAckTimeout
	cmRetries
	cmClientRNR // RNR retries the client asks of the server's queue pair, and back
	cmServerRNR
	cmClientReason // of its last REJ
	cmServerReason
	cmStatus // of the last SIDR_REP that refused
	cmFirstNs
	cmFirstFrame
	cmLastRequestNs
	cmLastRequestFrame
	cmReplyNs
	cmReplyFrame
	cmReadyNs
	cmReadyFrame
	cmRejectNs
	cmRejectFrame
	cmCloseNs
	cmCloseFrame
	numCM
)

var cmColumns = [numCM]report.Column{
	cmRequests:         {Name: "requests", Kind: report.Sum},
	cmDelays:           {Name: "delays", Kind: report.Sum},
	cmReplies:          {Name: "replies", Kind: report.Sum},
	cmReady:            {Name: "ready_to_use", Kind: report.Sum},
	cmClientRejects:    {Name: "rejects_of_client", Kind: report.Sum},
	cmServerRejects:    {Name: "rejects_of_server", Kind: report.Sum},
	cmCloses:           {Name: "disconnect_requests", Kind: report.Sum},
	cmClosed:           {Name: "disconnect_replies", Kind: report.Sum},
	cmReused:           {Name: "qp_numbers_reused", Kind: report.Sum},
	cmState:            {Name: "state", Kind: report.Peak},
	cmClientQP:         {Name: "client_qp", Kind: report.Peak},
	cmServerQP:         {Name: "server_qp", Kind: report.Peak},
	cmPathMTU:          {Name: "path_mtu", Unit: "bytes", Kind: report.Peak},
	cmAckTimeout:       {Name: "ack_timeout", Unit: "ns", Kind: report.Peak},
	cmRetries:          {Name: "retry_count", Kind: report.Peak},
	cmClientRNR:        {Name: "client_rnr_retry", Kind: report.Peak},
	cmServerRNR:        {Name: "server_rnr_retry", Kind: report.Peak},
	cmClientReason:     {Name: "client_reject_reason", Kind: report.Peak},
	cmServerReason:     {Name: "server_reject_reason", Kind: report.Peak},
	cmStatus:           {Name: "sidr_status", Kind: report.Peak},
	cmFirstNs:          {Name: "first_ns", Unit: "ns", Kind: report.Floor},
	cmFirstFrame:       {Name: "first_frame", Kind: report.Floor},
	cmLastRequestNs:    {Name: "last_request_ns", Unit: "ns", Kind: report.Peak},
	cmLastRequestFrame: {Name: "last_request_frame", Kind: report.Peak},
	cmReplyNs:          {Name: "reply_ns", Unit: "ns", Kind: report.Peak},
	cmReplyFrame:       {Name: "reply_frame", Kind: report.Peak},
	cmReadyNs:          {Name: "ready_ns", Unit: "ns", Kind: report.Peak},
	cmReadyFrame:       {Name: "ready_frame", Kind: report.Peak},
	cmRejectNs:         {Name: "reject_ns", Unit: "ns", Kind: report.Peak},
	cmRejectFrame:      {Name: "reject_frame", Kind: report.Peak},
	cmCloseNs:          {Name: "close_ns", Unit: "ns", Kind: report.Peak},
	cmCloseFrame:       {Name: "close_frame", Kind: report.Peak},
}

// The states of a connection, in the order of its life.
const (
	cmAsked = 1 + iota
	cmDelayed
	cmAccepted
	cmEstablished
	cmRejected
	cmClosing
	cmOver
)

// message takes a message of connection management.
func (c *connection) message(p *decode.Packet, m *ib.CM) {
	pair := cmPairOf(p)
	x := c.exchangeOf(pair, m)
	request := m.Attr == ib.AttrREQ || m.Attr == ib.AttrSIDRREQ
	if request && x != nil && !x.again(pair, m) {
		x = nil // the ID serves a new connection
	}
	if x == nil {
		if x = c.begin(pair, p, m); x == nil {
			return
		}
	}
	x.take(p, m, x.pair == pair)
	c.learn(x, pair, m)
}

// exchangeOf finds the exchange that a message belongs to; nil where it is not
// known.
func (c *connection) exchangeOf(pair cmPair, m *ib.CM) *exchange {
	own, other := uint64(m.LocalCommID), uint64(m.RemoteCommID)
	if m.Attr == ib.AttrSIDRREP {
		own, other = 0, own // it names the request by the client's ID
	}
	keys := [2]cmKey{{cmPair: pair, id: own}, {cmPair: pair.back(), id: other}}
	if m.Attr == ib.AttrREP || m.Attr == ib.AttrMRA || m.Attr == ib.AttrREJ {
		keys[0], keys[1] = keys[1], keys[0] // an answer may be the first to use its sender's ID again
	}
	for _, k := range keys {
		if x := c.find[k]; x != nil && k.id != 0 {
			return x
		}
	}
	if !m.Cut {
		return nil
	}
	if x := c.find[cmKey{pair, true, m.TransactionID}]; x != nil {
		return x
	}
	return c.find[cmKey{pair.back(), true, m.TransactionID}]
}

// again reports whether a request repeats that of the exchange.
func (x *exchange) again(pair cmPair, m *ib.CM) bool {
	return x.pair == pair && x.clientID == m.LocalCommID && x.transaction == m.TransactionID &&
		(x.values[cmClientQP] == int64(m.QPN) || m.Cut) && x.values[cmState] < cmClosing
}

// begin starts to follow an exchange, unless there are too many.
func (c *connection) begin(pair cmPair, p *decode.Packet, m *ib.CM) *exchange {
	bucket := analysis.BucketOf(p)
	if c.followed[bucket] >= c.limit {
		c.unseen++
		return nil
	}
	c.followed[bucket]++
	x := &exchange{pair: pair, clientID: m.LocalCommID, transaction: m.TransactionID}
	if saysServer(m) {
		x.pair, x.clientID, x.serverID = pair.back(), m.RemoteCommID, m.LocalCommID
	}
	if m.Attr == ib.AttrSIDRREP {
		x.clientID, x.serverID = m.LocalCommID, 0
	}
	x.values[cmFirstNs], x.values[cmFirstFrame] = p.Time, int64(p.Frame)
	c.exchanges = append(c.exchanges, x)
	if x.clientID != 0 {
		c.find[cmKey{cmPair: x.pair, id: uint64(x.clientID)}] = x
	}
	c.find[cmKey{x.pair, true, x.transaction}] = x
	return x
}

// saysServer reports whether the sender of a message without a known request
// is the one who was asked.
func saysServer(m *ib.CM) bool {
	switch m.Attr {
	case ib.AttrREP, ib.AttrSIDRREP, ib.AttrMRA:
		return true
	case ib.AttrREJ: // a client that gives up knows no ID of the server
		return m.Rejected == 0 && m.RemoteCommID != 0
	}
	return false
}

// learn notes what finds the exchange from now on. An exchange adds a few keys
// in its life, whatever is sent.
func (c *connection) learn(x *exchange, pair cmPair, m *ib.CM) {
	toServer := pair == x.pair
	switch {
	case m.Attr == ib.AttrREQ && m.QPN != 0 && x.values[cmClientQP] == 0:
		x.values[cmClientQP] = int64(m.QPN)
		c.name(x, x.pair.back(), m.QPN)
	case (m.Attr == ib.AttrREP || m.Attr == ib.AttrSIDRREP && m.Status == 0) && !toServer && m.QPN != 0 && x.values[cmServerQP] == 0:
		x.values[cmServerQP] = int64(m.QPN)
		c.name(x, x.pair, m.QPN)
	}
	if !toServer && x.serverID == 0 && m.LocalCommID != 0 && m.Attr != ib.AttrSIDRREP {
		x.serverID = m.LocalCommID
		c.find[cmKey{cmPair: x.pair.back(), id: uint64(x.serverID)}] = x
	}
}

// name notes a queue pair of the exchange, towards which data travels.
func (c *connection) name(x *exchange, pair cmPair, qp uint32) {
	k := qpKey{pair, qp}
	if old := c.byQP[k]; old != nil && x.transport != ib.UD.String() {
		x.values[cmReused]++
	}
	c.byQP[k] = x
	c.born++
}

// take counts a message.
func (x *exchange) take(p *decode.Packet, m *ib.CM, ofClient bool) {
	v := &x.values
	when := func(ns int) { v[ns], v[ns+1] = max(v[ns], p.Time), max(v[ns+1], int64(p.Frame)) }
	state := int64(0)
	switch m.Attr {
	case ib.AttrREQ, ib.AttrSIDRREQ:
		x.asked(m)
		when(cmLastRequestNs)
		state = cmAsked
	case ib.AttrMRA:
		if !ofClient {
			v[cmDelays]++
			state = cmDelayed
		}
	case ib.AttrREP:
		v[cmReplies]++
		v[cmServerRNR] = int64(m.RNRRetry)
		when(cmReplyNs)
		state = cmAccepted
	case ib.AttrSIDRREP:
		state = x.resolved(m)
		when(cmReplyNs)
		if state == cmRejected {
			when(cmRejectNs)
		}
	case ib.AttrRTU:
		v[cmReady]++
		when(cmReadyNs)
		state = cmEstablished
	case ib.AttrREJ:
		x.refused(m, ofClient)
		when(cmRejectNs)
		state = cmRejected
	case ib.AttrDREQ:
		v[cmCloses]++
		when(cmCloseNs)
		state = cmClosing
	case ib.AttrDREP:
		v[cmClosed]++
		when(cmCloseNs)
		state = cmOver
	}
	v[cmState] = max(v[cmState], state)
}

func (x *exchange) asked(m *ib.CM) {
	v := &x.values
	v[cmRequests]++
	x.service = m.ServiceID
	if m.Attr == ib.AttrSIDRREQ {
		x.transport = ib.UD.String()
		return
	}
	if m.PathMTU != 0 { // behind the transport, which a cut message has lost with it
		x.transport = m.Transport.String()
	}
	v[cmPathMTU], v[cmRetries], v[cmClientRNR] = int64(m.PathMTU.Bytes()), int64(m.RetryCount), int64(m.RNRRetry)
	if m.AckTimeout != 0 {
		v[cmAckTimeout] = int64(m.AckTimeout.Duration())
	}
}

// resolved takes the answer to a request for a datagram queue pair.
func (x *exchange) resolved(m *ib.CM) int64 {
	x.transport = ib.UD.String()
	if x.service == 0 {
		x.service = m.ServiceID
	}
	if m.Status == 0 {
		x.values[cmReplies]++
		return cmAccepted
	}
	x.values[cmServerRejects]++
	x.values[cmStatus] = int64(m.Status)
	return cmRejected
}

func (x *exchange) refused(m *ib.CM, ofClient bool) {
	n, reason := cmServerRejects, cmServerReason
	if ofClient {
		n, reason = cmClientRejects, cmClientReason
	}
	x.values[n]++
	x.values[reason] = int64(m.Reason)
}
