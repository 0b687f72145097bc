"""Links under short codes."""
