"""Whether two lists of files overlap, each on its own."""

from __future__ import annotations

from collections.abc import Iterable

from bernstein.core.scheduling.file_overlap import HeldFiles


def overlap(left: Iterable[str], right: Iterable[str]) -> bool:
    """True when two lists of paths and globs may name the same file; unsure counts as yes."""
    left, right = tuple(left), tuple(right)
    held = HeldFiles([left, right])
    held.add("right", right)
    return held.overlap(left) is not None
