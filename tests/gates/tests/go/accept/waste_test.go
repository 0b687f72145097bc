package limit

import "testing"

func TestWasted(t *testing.T) {
	if got := Wasted([]int{0, 3, 0}); got != 2 {
		t.Errorf("got %v", got)
	}
}
