"""The gates that run what a model writes for them: a file for each."""
