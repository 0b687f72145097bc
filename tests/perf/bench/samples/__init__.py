"""Where the CPU of real processes goes, by looking at them every few milliseconds."""
