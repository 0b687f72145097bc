"""NetworkPolicy in the local cluster: rules of nftables, their engine, and the plugin of pods."""
