"""The sanitiser sees hostile text in the operator's own loop: its cost grows as the text does."""

from __future__ import annotations

from time import process_time

import pytest

from bernstein.core import sanitise

HOSTILE = ["\t", " ", "\x1b[0", "\x1b]0;", "\x9b1 ", "://a", "://@", "@", "\n ", "\r", "\u200b"]
SMALL, FACTOR = 4_000, 8


def seconds(text: str) -> float:
    """CPU time of the quickest of five."""
    found = []
    for _ in range(5):
        begin = process_time()
        sanitise.text(text, len(text))
        found.append(process_time() - begin)
    return min(found)


@pytest.mark.parametrize("pattern", HOSTILE, ids=ascii)
def test_cost_grows_no_faster_than_the_text(pattern: str) -> None:
    small = seconds(pattern * SMALL + "x")
    large = seconds(pattern * SMALL * FACTOR + "x")
    print(f"\n{pattern!a}: {FACTOR} times the text costs {large / small:.1f} times as much")
    assert large < 3 * FACTOR * small
