"""Does a file of Python say that its bytes mean something else than they seem to?

In some encodings, such as UTF-7, a comment may hold the end of its line: Python sees statements
where whoever reads the bytes, a person or a program, sees a comment.
"""

from __future__ import annotations

import re

_SAID = re.compile(rb"[ \t\f]*#[^\n\r]{0,400}?coding[:=][ \t]{0,20}([-\w.]{1,60})")
"""In one of the first two lines: PEP 263."""
_PLAIN = re.compile(
    r"utf-?8(-sig)?|(us-)?ascii|latin-?\d{1,2}|l\d|iso-?8859-\d{1,2}(-\w+)?|(cp|windows-)125\d"
    r"|cp(437|8\d\d)|koi8-\w|mac-\w+"
)
"""In which a byte of ASCII is that character, wherever it stands."""


def unusual(content: bytes) -> str:
    """The name of an encoding of which that is not known; "": there is none."""
    for line in re.split(rb"\r\n?|\n", content[:2000], maxsplit=2)[:2]:
        said = _SAID.match(line)
        if said is not None:
            name = said[1].decode("ascii", "replace").lower().replace("_", "-")
            return "" if _PLAIN.fullmatch(name) else name
    return ""
