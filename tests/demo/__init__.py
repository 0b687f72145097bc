"""What the example runs on in a cluster: a git server, its accounts, a Project, its agent."""
