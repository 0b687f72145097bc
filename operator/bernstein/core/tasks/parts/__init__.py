"""A Task that is done in parts, by other Tasks."""
