"""Authorities that our program is told of besides those that everybody trusts.

What connects without a library for it needs them alone.
"""

from __future__ import annotations

import os
import ssl

from bernstein.urls import MORE_CA


def with_more(context: ssl.SSLContext) -> ssl.SSLContext:
    """This one, with those that our program is told of besides. Raises OSError."""
    if more := os.environ.get(MORE_CA):
        context.load_verify_locations(cafile=more)
    return context
