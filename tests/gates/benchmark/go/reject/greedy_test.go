package limit

import "testing"

func TestGreedy(t *testing.T) {
	if sums := Greedy([]int{1, 2}); sums[1] != 3 {
		t.Error(sums)
	}
}

func BenchmarkGreedy(b *testing.B) {
	budgets := make([]int, 100)
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		Greedy(budgets)
	}
}
