package limit

// Wasted is the number of budgets of which nothing is left.
func Wasted(budgets []int) int {
	count := 0
	for _, budget := range budgets {
		if budget == 0 {
			count++
		}
	}
	return count
}
