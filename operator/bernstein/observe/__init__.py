"""Metrics, logs and probes of our processes."""
