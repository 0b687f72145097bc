"""Lines as a reader sees them: what a terminal or an editor does not show parts no word."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

_SEQUENCE = rb"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[ -/]*[0-~]"
_UNSEEN = re.compile(
    _SEQUENCE + rb"|[\x01-\x08\x0b\x0e-\x1f\x7f]"
    # In UTF-8: what controls, joins, has no width or turns the direction, Unicode's tags and all
    # else that it calls default ignorable.
    rb"|\xc2[\x80-\x9f\xad]|\xcd\x8f|\xd8\x9c|\xe1\x85[\x9f\xa0]|\xe1\x9e[\xb4\xb5]"
    rb"|\xe1\xa0[\x8b-\x8f]|\xe2\x80[\x8b-\x8f\xaa-\xae]|\xe2\x81[\xa0-\xaf]|\xe3\x85\xa4"
    rb"|\xef\xb8[\x80-\x8f]|\xef\xbb\xbf|\xef\xbe\xa0|\xef\xbf[\xb0-\xb8]"
    rb"|\xf0\x9b\xb2[\xa0-\xa3]|\xf0\x9d\x85[\xb3-\xba]|\xf3\xa0[\x80-\xbf][\x80-\xbf]"
)
"""No tab, line break or form feed: they are white space. In linear time."""


def is_in(text: bytes) -> bool:
    """Whether a reader does not see all of it."""
    return _UNSEEN.search(text) is not None


def without(lines: Iterable[tuple[int, bytes]]) -> Iterator[tuple[int, str]]:
    """Those of the numbered lines that are seen otherwise than they are, as they are seen.

    What is no UTF-8 is no text that anybody reads, such as pictures: they are full of such bytes.
    """
    for number, line in lines:
        seen = _UNSEEN.sub(b"", line)
        if len(seen) < len(line):
            try:
                yield number, seen.decode()
            except UnicodeDecodeError:
                continue
