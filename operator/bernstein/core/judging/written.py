"""A test that a model has written, on its way from the pod that asked to the pod that runs it.

It travels as data: in the termination message of the one, in the status, and in the configuration
of the other one's checkout. Whoever unpacks it gets bounded text, whatever was packed.
"""

from __future__ import annotations

from typing import Final

from bernstein.api import packed as words
from bernstein.core.judging.answers import FormError

FILE: Final = "test_written.py"
"""What it is called where it runs."""
MOST_BYTES: Final = 16_384
"""Of a test."""
MOST_PACKED: Final = 3200
"""Characters of one that is packed: a termination message has room for it and for what it cost."""


def packed(test: str) -> str:
    """The test as a word of ASCII. Raises FormError where it is too long."""
    data = test.encode()
    word = words.packed(data)
    if len(data) > MOST_BYTES or len(word) > MOST_PACKED:
        raise FormError("its block of code is too long")
    return word


def unpacked(word: str) -> str:
    """The test. Raises ValueError where it is none that `packed` has made."""
    return words.unpacked(word, MOST_PACKED, MOST_BYTES).decode()
