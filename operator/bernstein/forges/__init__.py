"""Asks forges: opens pull requests, keeps them up to date, and looks at what becomes of them."""
