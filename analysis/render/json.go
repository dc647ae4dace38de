package render

import (
	"io"

	"github.com/rocescope/rocescope/analysis/report"
)

// JSON holds everything and can be read again.
var JSON = add(Format{
	Name:     "json",
	Doc:      "everything, for another program or to be rendered or compared later",
	Suffixes: []string{".json"},
	Write: func(w io.Writer, r *report.Report, _ Options) error {
		return report.Write(w, r)
	},
})
