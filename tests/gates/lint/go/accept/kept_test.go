package limit

import "testing"

func TestKept(t *testing.T) {
	if got := Kept(2); got != 2 {
		t.Errorf("got %v", got)
	}
}
