"""Commands about plans, of files and of the cluster."""
