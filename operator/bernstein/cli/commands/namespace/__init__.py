"""Commands about a namespace as a whole."""
