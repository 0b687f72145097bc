package limit

import "testing"

func TestSimple(t *testing.T) {
	for budget := 0; budget < 4; budget++ {
		if Simple(budget) != budget {
			t.Error(budget)
		}
	}
	if Simple(-5) != -1 {
		t.Error("a debt")
	}
}
