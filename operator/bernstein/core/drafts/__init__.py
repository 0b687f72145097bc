"""Plan files that a model drafts: what it is told of a repository, and what its answer holds."""
