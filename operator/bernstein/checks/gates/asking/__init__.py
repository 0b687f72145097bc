"""The gates that a model answers: a file for each."""
