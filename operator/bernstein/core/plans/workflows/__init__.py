"""Workflows: what their words mean, what is wrong with them, and what runs next."""
