// Package ib is the InfiniBand transport on the wire: opcodes and the headers
// each carries as one table, each header's layout known once (Parse, Append),
// PSN arithmetic, ICRC; and the messages of communication management, which open
// and close connections.
//
// Every header is a small struct in a file of its own with the same trio:
//
//	const BTHLen = 12            // bytes on the wire
//	func (h *BTH) Parse(b []byte) bool
//	func (h *BTH) Append(b []byte) []byte
//
// Parse reads the header at the start of b and reports false, leaving h
// untouched, where b is too short; it keeps no reference to b. Append adds the
// header's wire form to b. Neither allocates (Append only where b lacks room),
// and neither judges: a value that the specification forbids is parsed as it
// stands.
//
// The package depends on the standard library alone and never looks below the
// transport, except that the ICRC covers the network header too.
package ib
