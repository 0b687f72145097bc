"""What clusters and image builds ask of the machine: packages, folders, locks, mounts, Docker."""
