"""A cluster of etcd, API server and controller manager alone: a real API, but no containers."""
