"""What Helm runs in the cluster: `helm test`, and what comes before an uninstall."""
