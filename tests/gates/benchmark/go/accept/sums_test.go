package limit

import "testing"

func TestSums(t *testing.T) {
	if sums := Sums([]int{1, 2}); sums[1] != 3 {
		t.Error(sums)
	}
}

func BenchmarkSums(b *testing.B) {
	budgets := make([]int, 100)
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		Sums(budgets)
	}
}
