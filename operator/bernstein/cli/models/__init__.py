"""Models that the person at the terminal asks, with a key of that person's own."""
