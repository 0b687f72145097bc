package limit

// Sums is what all budgets up to each one are together.
func Sums(budgets []int) []int {
	sums := make([]int, 0, len(budgets))
	sum := 0
	for _, budget := range budgets {
		sum += budget
		sums = append(sums, sum)
	}
	return sums
}
