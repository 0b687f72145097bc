"""What people and CI say of a pull request, on its way back to an agent."""
