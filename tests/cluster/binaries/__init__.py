"""Kubernetes and its tools as binaries of our own, built from Go modules."""
