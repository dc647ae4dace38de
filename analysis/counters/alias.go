package counters

// alias is what a driver calls a counter.
type alias struct {
	driver string
	name   string // in the table
	fewer  string // why the driver counts fewer; empty where it counts the same
}

// aliases are the names of drivers other than mlx5, as their sources in Linux
// list them. Names that mean the same with mlx5 need none. The rx_out_of_buffer
// of ethtool is not among them: with mlx5 it counts the queues of the kernel's
// own network, not those of RDMA.
var aliases = map[string]alias{
	"rp_cnp_ignored": {"mlx5", "rp_cnp_handled", ""}, // both add up

	"responder_oos":          {"mana", "out_of_sequence", ""},
	"requester_oos_nak":      {"mana", "packet_seq_err", ""},
	"requester_timeout":      {"mana", "local_ack_timeout_err", ""},
	"requester_rnr_nak":      {"mana", "rnr_nak_retry_err", ""},
	"responder_rnr_nak":      {"mana", "out_of_buffer", ""},
	"responder_dup_request":  {"mana", "duplicate_request", ""},
	"requester_implicit_nak": {"mana", "implied_nak_seq_err", ""},
	"nak_inv_req":            {"mana", "req_remote_invalid_request", ""},
	"nak_access_error":       {"mana", "req_remote_access_errors", ""},
	"received_cnps":          {"mana", "rp_cnp_handled", ""},

	"oos_drop_count":         {"bnxt_re", "out_of_sequence", ""},
	"seq_err_naks_rcvd":      {"bnxt_re", "packet_seq_err", ""},
	"dup_req":                {"bnxt_re", "duplicate_request", ""},
	"to_retransmits":         {"bnxt_re", "local_ack_timeout_err", ""},
	"rnr_naks_rcvd":          {"bnxt_re", "rnr_nak_retry_err", ""},
	"remote_invalid_req_err": {"bnxt_re", "req_remote_invalid_request", ""},
	"remote_access_err":      {"bnxt_re", "req_remote_access_errors", ""},
	"tx_cnp_pkts":            {"bnxt_re", "np_cnp_sent", ""},
	"rx_cnp_pkts":            {"bnxt_re", "rp_cnp_handled", ""},
	"rx_ecn_marked_pkts":     {"bnxt_re", "np_ecn_marked_roce_packets", ""},

	"np_cnp_pkts": {"bnxt_re", "np_cnp_sent", ""},

	"out_of_seq_request": {"rxe", "out_of_sequence", ""},
	"rcvd_seq_err":       {"rxe", "packet_seq_err", "Soft-RoCE counts only NAKs that acknowledge something new"},
	"rcvd_rnr_err":       {"rxe", "rnr_nak_retry_err", ""},
	"send_rnr_err":       {"rxe", "out_of_buffer", ""},
}

// Canonical returns the name under which Expect lists a driver's counter, and
// false for counters that no capture can tell.
func Canonical(name string) (string, bool) {
	if a, ok := aliases[name]; ok {
		return a.name, true
	}
	for _, c := range table {
		if c.name == name {
			return name, true
		}
	}
	return "", false
}
