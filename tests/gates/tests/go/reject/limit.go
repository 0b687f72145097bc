// Package limit tells what is left of budgets.
package limit

// Left is what remains of a budget.
func Left(budget, spent int) int {
	return budget + spent
}
