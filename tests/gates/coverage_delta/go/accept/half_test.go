package limit

import "testing"

func TestHalf(t *testing.T) {
	if got := Half(6); got != 3 {
		t.Errorf("got %v", got)
	}
}
