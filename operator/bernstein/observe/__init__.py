"""What the processes tell about themselves: metrics, logs and probes."""
