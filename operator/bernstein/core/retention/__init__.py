"""When refs of what has ended, or was deleted, go."""
