"""The lines that a change adds to a file, in every way in which the file may be read.

An added line is one whose content the file did not hold before. So a moved line is not an added
one, and no diff is needed, which attributes in the tree could turn off.
"""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Iterator

from bernstein.checks.reading import ChangedFile

COMPARED_LINES = 500_000
"""The most old lines of a file that are held in memory, without the unchanged ones at its two ends.
Where there are more, all new lines between the ends count as added."""

_STEP = 65_536
_MARKS = (
    (b"\xff\xfe\0\0", "utf-32"),
    (b"\0\0\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)


def readings(file: ChangedFile) -> Iterator[tuple[bytes, bytes]]:
    """(before, after) as committed, and then in UTF-8 for every wide encoding that it may have.

    A byte order mark is only a claim: text behind one may be in any encoding, and wide text may
    come without one. So what is committed is always read as well.
    """
    yield file.before, file.after
    for encoding in dict.fromkeys(filter(None, (_marked(file.after), _likely(file.after)))):
        yield _narrow(file.before, encoding), _narrow(file.after, encoding)


def added_lines(before: bytes, after: bytes) -> Iterator[tuple[int, bytes]]:
    """(number from 1, content) of the lines that `after` holds more often than `before`."""
    head = _same_head(before, after)
    tail = _same_tail(before, after, head)
    had = _lines_between(before, head, len(before) - tail)
    number = after.count(b"\n", 0, head)
    new = io.BytesIO(after)
    new.seek(head)
    while new.tell() < len(after) - tail:
        number += 1
        line = new.readline().removesuffix(b"\n")
        if had[line] > 0:
            had[line] -= 1
        elif line:
            yield number, line


def _same_head(before: bytes, after: bytes) -> int:
    """Bytes of whole lines that both begin with; up to _STEP bytes of them may be missed."""
    same = 0
    while same < min(len(before), len(after)):
        step = slice(same, same + _STEP)
        if before[step] != after[step]:
            break
        same += _STEP
    return after.rfind(b"\n", 0, min(same, len(before), len(after))) + 1


def _same_tail(before: bytes, after: bytes, head: int) -> int:
    """Bytes of whole lines behind `head` that both end with; up to _STEP of them may be missed."""
    same, most = 0, min(len(before), len(after)) - head
    while same + _STEP <= most:
        old, new = (len(data) - same - _STEP for data in (before, after))
        if before[old : old + _STEP] != after[new : new + _STEP]:
            break
        same += _STEP
    start = len(after) - same
    first = after.find(b"\n", start) + 1
    return len(after) - first if first else 0


def _lines_between(data: bytes, start: int, end: int) -> Counter[bytes]:
    """How often each line stands between these offsets; empty for over COMPARED_LINES lines."""
    if data.count(b"\n", start, end) > COMPARED_LINES:
        return Counter()
    return Counter(line.removesuffix(b"\n") for line in io.BytesIO(data[start:end]))


def _marked(data: bytes) -> str | None:
    """UTF-16 or UTF-32, where the byte order mark says so."""
    return next((encoding for mark, encoding in _MARKS if data.startswith(mark)), None)


def _likely(data: bytes) -> str | None:
    """The wide encoding in which ASCII text has its NUL bytes where they are here, if any are."""
    nul = [data[start::4].count(0) for start in range(4)]
    if not any(nul):
        return None
    if sum(nul) * 2 > len(data):
        return "utf-32-le" if nul[3] >= nul[0] else "utf-32-be"
    return "utf-16-le" if nul[1] + nul[3] >= nul[0] + nul[2] else "utf-16-be"


def _narrow(data: bytes, encoding: str) -> bytes:
    return data.decode(encoding, "replace").encode("utf-8", "replace")
