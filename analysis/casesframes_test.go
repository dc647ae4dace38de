package analysis_test

import (
	"maps"
	"path/filepath"
	"slices"
	"testing"

	"github.com/rocescope/rocescope/analysis"
	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/ib"
)

// sameFrames says which label of the model an event's frames must equal.
var sameFrames = map[string][]analysis.EventKind{
	"retransmitted_nak":         {analysis.RetransmittedNAK},
	"retransmitted_timeout":     {analysis.RetransmittedTimeout},
	"retransmitted_rnr":         {analysis.RetransmittedRNR},
	"retransmitted_implied_nak": {analysis.RetransmittedImplied},
	"retransmitted_read_retry":  {analysis.ResponseRetransmitted},
	"mirror_duplicate":          {analysis.MirrorDuplicate},
	"reordered":                 {analysis.Reordered, analysis.ResponseReordered},
	"icrc_bad":                  {analysis.BadICRC},
	"ce":                        {analysis.CEMark},
	"nak_psn_sequence_error":    {analysis.SequenceNAK},
	"rnr_nak":                   {analysis.RNRNAK},
}

// labelsMax is how many frames of a label the truth lists at most.
const labelsMax = 60

func TestEventsStandAtTheLabelledFrames(t *testing.T) {
	for _, path := range glob(t, labelled, "*.truth.json") {
		var truth labelledTruth
		readJSON(t, path, &truth)
		t.Run(truth.Case, func(t *testing.T) {
			seen, fresh := eventFrames(t, &truth)
			for label, kinds := range sameFrames {
				want := truth.Frames[label]
				if len(want) >= labelsMax {
					continue
				}
				got := map[uint64]bool{}
				for _, k := range kinds {
					maps.Copy(got, seen[k])
				}
				switch known[truth.Case][label] {
				case "":
				case unseen: // which is no excuse for a PSN that the tap had seen
					want = slices.DeleteFunc(want, func(n uint64) bool { return fresh[n] })
				default:
					continue
				}
				if have := slices.Sorted(maps.Keys(got)); !slices.Equal(have, want) {
					t.Errorf("%s: frames %v, want %v", label, have, want)
				}
			}
		})
	}
}

// eventFrames runs a labelled capture and returns the frames of every kind of
// event, and those of requests beyond all that their row had shown.
func eventFrames(t *testing.T, truth *labelledTruth) (seen map[analysis.EventKind]map[uint64]bool, fresh map[uint64]bool) {
	t.Helper()
	seen, fresh = map[analysis.EventKind]map[uint64]bool{}, map[uint64]bool{}
	high := map[analysis.FlowID]ib.PSN{}
	cfg := truth.config()
	cfg.Tap = func(b *analysis.Batch) {
		for i := range b.Packets {
			p := &b.Packets[i]
			if p.Status != decode.RoCE || !p.Op.Is(ib.IsRequest) {
				continue
			}
			if h, any := high[b.Flow[i]]; !any || p.PSN.After(h) {
				high[b.Flow[i]], fresh[p.Frame] = p.PSN, true
			}
		}
		for _, e := range b.Events {
			if seen[e.Kind] == nil {
				seen[e.Kind] = map[uint64]bool{}
			}
			seen[e.Kind][e.Frame] = true
		}
	}
	run(t, open(t, filepath.Join(labelled, truth.File)), cfg)
	return seen, fresh
}
