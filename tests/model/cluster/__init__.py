"""The cluster in memory: API server, controllers, nodes, and what runs in their pods."""
