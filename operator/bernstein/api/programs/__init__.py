"""What the operator says to programs that move refs or try credentials; see `bernstein.api.pod`."""
