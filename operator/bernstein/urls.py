"""Addresses in texts."""

from __future__ import annotations

import re

_USER = re.compile(r"(?<=://)[^/\s@]*@")


def without_users(text: str, instead: str = "") -> str:
    """`text` with `instead` in the place of user and password of every URL in it, and of their @.

    In linear time: no character belongs to the search of two URLs.
    """
    return _USER.sub(instead, text) if "://" in text else text
