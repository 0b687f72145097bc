"""The chart's dashboards over what a real Prometheus has of a real engine and a real server."""
