// Package wrapped holds tiny sample captures: one for each encapsulation, for
// each link type, and for each oddity that package decode knows. It has no code
// of its own. All but a few hold the same exchange of two hosts: a WRITE in two
// packets, its ACK, a SEND back, its ACK.
//
// The tests build each file from the bytes of its headers and say, by hand,
// every field of every decode.Packet that it must give, and what the analysis
// must make of it. After a change to how files are built,
//
//	go test ./pcaps/wrapped -update
//
// writes them anew. Expectations are not written: who changes what a file holds
// changes them by hand, and tshark, where it is installed, is the second witness.
package wrapped
