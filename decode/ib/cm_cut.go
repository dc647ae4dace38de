package ib

import "slices"

// cutAt are, for each message, the offsets behind the MAD header up to which a
// cut message can be read without cutting a field in two.
var cutAt = [...][]int{
	0:                     {0, 4, 16, 32, 35, 36, 40, 44, 47, 48, 52, 72, 88, 92, 140},
	AttrMRA - AttrREQ:     {0, 4, 8, 9, 10},
	AttrREJ - AttrREQ:     {0, 4, 8, 9, 10, 12},
	AttrREP - AttrREQ:     {0, 4, 8, 12, 15, 20, 23, 25, 26, 27, 28},
	AttrRTU - AttrREQ:     {0, 4, 8},
	AttrDREQ - AttrREQ:    {0, 4, 8, 11},
	AttrDREP - AttrREQ:    {0, 4, 8},
	AttrSIDRREQ - AttrREQ: {0, 4, 16},
	AttrSIDRREP - AttrREQ: {0, 4, 5, 11, 20, 24},
	AttrLAP - AttrREQ:     {0, 4, 8},
	AttrAPR - AttrREQ:     {0, 4, 8},
}

// cutHeaderLen is up to where a MAD header says which message it is.
const cutHeaderLen = 18

// ParseCutCM reads what a capture with a short snap length left of a
// communication management message. Fields that were cut off are zero, and Cut is
// set. It reports false where mad is no CM message that CMAttr names, or ends
// before it says which.
func ParseCutCM(mad []byte) (CM, bool) {
	if len(mad) < cutHeaderLen {
		return CM{}, false
	}
	var header [MADHeaderLen]byte
	copy(header[:], mad)
	var h MAD
	if h.Parse(header[:]); h.Class != ClassCM || !CMAttr(h.AttrID).Known() {
		return CM{}, false
	}
	c := CM{Attr: CMAttr(h.AttrID), TransactionID: h.TransactionID, Cut: true}
	ends := cutAt[c.Attr-AttrREQ]
	n, whole := slices.BinarySearch(ends, max(0, len(mad)-MADHeaderLen))
	if !whole {
		n--
	}
	var body [MADLen - MADHeaderLen]byte
	copy(body[:], mad[min(len(mad), MADHeaderLen):][:ends[n]])
	c.parse(body[:])
	return c, true
}
