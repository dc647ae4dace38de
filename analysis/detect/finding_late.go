package detect

// lateSteps are the bounds, in ns, by which latenesses are sorted. What is
// above the last one counts there too.
var lateSteps = [...]int64{
	1_000, 2_000, 3_000, 5_000, 7_000, 10_000, 20_000, 30_000, 50_000, 70_000, 100_000, 200_000, 300_000, 500_000, 700_000,
	1_000_000, 2_000_000, 3_000_000, 5_000_000, 7_000_000, 10_000_000, 20_000_000, 50_000_000, 100_000_000, 200_000_000, 500_000_000, 1_000_000_000,
}

// lateStep returns the index of the bound that a lateness lies below.
func lateStep(ns int64) int {
	for i, bound := range lateSteps {
		if ns < bound {
			return i
		}
	}
	return len(lateSteps) - 1
}
