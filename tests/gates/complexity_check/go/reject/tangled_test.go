package limit

import "testing"

func TestTangled(t *testing.T) {
	for budget := 0; budget < 11; budget++ {
		if Tangled(budget) != budget {
			t.Error(budget)
		}
	}
	if Tangled(-5) != -1 {
		t.Error("a debt")
	}
}
