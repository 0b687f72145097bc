package limit

import "testing"

func TestSame(t *testing.T) {
	if got := Same(2); got != 2 {
		t.Errorf("got %v", got)
	}
}
