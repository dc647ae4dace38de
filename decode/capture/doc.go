// Package capture reads frames from capture files, and writes them.
//
// Open (or NewReader, for a stream already at hand) finds format and
// compression by content, never by name: pcap in its microsecond, nanosecond
// and "modified" forms, pcapng, either byte order, plain or packed with gzip
// or zstd. Read then fills a caller's Frame, without allocating:
//
//	f, err := capture.Open("trace.pcapng.gz")
//	...
//	defer f.Close()
//	var frame decode.Frame
//	for {
//		if err := f.Read(&frame); err == io.EOF {
//			break
//		} else if err != nil {
//			return err
//		}
//		... // frame.Data is f's, and valid until the next Read
//	}
//	for _, d := range f.Damage() { ... }
//
// A damaged file is no error: all that can be read before (and mostly after) the
// damage is handed out, Read ends with io.EOF, and Damage says what was lost and
// where. Info accounts for every byte: of frames, of headers and other blocks,
// and skipped. An error from Read means that the input itself failed, as a disk
// or a network may.
//
// Captures that were concatenated are read as one, whatever their formats, byte
// orders and link types; so are packed ones, if all are packed alike. A packed
// capture that grows by more than MaxRatioGzip or MaxRatioZstd is read no
// further.
//
// Merge reads several inputs as one, in the order of time. PcapWriter and
// PcapngWriter write what Read hands out.
//
// No length found in a file drives an allocation: memory grows only with bytes
// that really arrive, up to a fixed limit (only zstd sets its window, of at most
// 128 MiB, aside at once). The package keeps no state of its
// own, starts no goroutine and never logs.
package capture
