package limit

// Greedy is what all budgets up to each one are together.
func Greedy(budgets []int) []int {
	var sums []int
	sum := 0
	for _, budget := range budgets {
		sum += budget
		sums = append([]int{}, append(sums, sum)...)
	}
	return sums
}
