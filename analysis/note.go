package analysis

// Note records that packet i of the batch is worth showing, for what kind
// says. Observers call it while they observe; once all have seen the batch, the
// notes join its Events and the evidence of the packet's row. A packet of no row
// is shown to the Tap alone. It allocates only until Notes has grown to the
// size of a batch.
func (b *Batch) Note(kind EventKind, i int) {
	p := &b.Packets[i]
	e := Event{Kind: kind, Count: 1, Flow: b.Flow[i], PSN: p.PSN, Time: p.Time, Frame: p.Frame}
	switch kind {
	case RNRNAK:
		e.Value = int64(p.Syndrome.RNRTimer())
	case FatalNAK, SequenceNAK:
		e.Value = int64(p.Syndrome & 0x7F)
	}
	b.Notes = append(b.Notes, e)
}

// takeNotes turns what observers noted into events.
func (s *shard) takeNotes() {
	for _, e := range s.batch.Notes {
		if e.Flow == NoFlow {
			s.batch.Events = append(s.batch.Events, e)
			continue
		}
		s.emit(e)
	}
	s.batch.Notes = s.batch.Notes[:0]
}
