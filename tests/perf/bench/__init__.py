"""What the operator costs, on a real control plane whose node KWOK plays, beside bare Jobs."""
