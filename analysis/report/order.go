package report

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

// ordered returns the numbers 0 to n-1 in the order of compare.
func ordered(n int, compare func(i, j int32) int) []int32 {
	order := make([]int32, n)
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, compare)
	return order
}

// arrange puts what stood at order[i] to i, in place: there may be a hundred
// megabytes of it. It uses order up.
func arrange[T any](s []T, order []int32) {
	for i := range order {
		if int(order[i]) == i {
			continue
		}
		first, to := s[i], i
		for from := int(order[to]); from != i; from = int(order[to]) {
			s[to] = s[from]
			order[to], to = int32(to), from
		}
		s[to], order[to] = first, int32(to)
	}
}

// together does n things on all cores.
func together(n int, do func(i int)) {
	var next atomic.Int64
	var wait sync.WaitGroup
	for range min(n, runtime.GOMAXPROCS(0)) {
		wait.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				do(i)
			}
		})
	}
	wait.Wait()
}
