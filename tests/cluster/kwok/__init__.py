"""A control plane whose node and pods are played by KWOK: real load, and no containers."""
