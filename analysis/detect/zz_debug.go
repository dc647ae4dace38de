package detect

import "github.com/rocescope/rocescope/analysis/report"

// Paths is for checking only.
func Paths(r *report.Report) (int64, float64) {
	ports := spread{}
	for _, row := range rows(r, "entropy", "paths") {
		k := [4]string(row.Key)
		k[3] = ""
		ports[k] += row.Values[2]
	}
	p, k, _, _ := ports.effective()
	return k, p
}
