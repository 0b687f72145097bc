"""A complete cluster on this machine: the control plane and one node, as processes of root."""
