"""The command line: Plans from files, and what became of them, through a kubeconfig."""
