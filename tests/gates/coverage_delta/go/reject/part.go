package limit

// Part is a part of a budget, in steps of ten.
func Part(budget int) int {
	steps := 0
	for budget > 0 {
		budget -= 10
		steps++
	}
	return steps
}
