"""Commands about Tasks, each by itself or all of them."""
