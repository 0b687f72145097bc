"""Asks language models: one question, one whole answer, within limits of time, bytes and tokens."""
