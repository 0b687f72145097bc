"""The HTTP service that recorders in pods report to; stateless, on the Kubernetes API."""
