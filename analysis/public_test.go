package analysis_test

import (
	"os"
	"strings"
	"testing"
)

// A capture from the linux-cifs list: READs of an SMB Direct client are never
// answered, and it gives up and connects anew, again and again.
func TestSMBDirectReadsUnanswered(t *testing.T) {
	path := "../../shared/captures/public/smbdirect-read-unanswered.s90.pcap"
	if _, err := os.Stat(path); err != nil {
		t.Skipf("no public captures here: %v", err)
	}
	r := analyze(t, path, oneWorker())
	for _, want := range []string{"answers no RDMA READ of 192.168.6.1 on 3 queue pairs", "sent 7 times, 576 ms apart", "a retry count of 6 or more",
		"the two connected anew, 3 times", "That explains retransmit.exhausted."} {
		if !strings.Contains(r.Headline, want) {
			t.Errorf("%q is not in the headline: %s", want, r.Headline)
		}
	}
}
