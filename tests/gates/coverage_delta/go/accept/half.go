package limit

// Half is half of a budget.
func Half(budget int) int {
	return budget / 2
}
