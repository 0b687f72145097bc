package limit

// Same is the budget itself.
func Same(budget int) int {
	budget = budget
	return budget
}
