package decode

import "strconv"

var statusNames = [NumStatus]string{
	RoCE:      "RoCE",
	Other:     "other",
	PFC:       "PFC",
	Pause:     "PAUSE",
	UET:       "UET",
	Fragment:  "fragment",
	Truncated: "truncated",
	Malformed: "malformed",
	RoCEv15:   "RoCE v1.5",
	IWARP:     "iWARP",
	LLDP:      "LLDP",
}

// String names the status in a word; one that is none of the constants as
// "status 9".
func (s Status) String() string {
	if int(s) < len(statusNames) {
		return statusNames[s]
	}
	return "status " + strconv.Itoa(int(s))
}
