"""Which licence is the repository under? It says so in files that everybody looks for."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping

from bernstein.checks.content import licences, spdx
from bernstein.checks.content.rules import joined

MOST_BYTES = 200_000
"""Of a file that may tell it."""
FOLDERS = ("", "LICENSES", ".reuse")
"""Where these files are: at the root, and where REUSE (reuse.software) has them."""
_TEXT = 2000
"""Characters: a licence names itself before it names others."""
_HEAD = 3
"""Lines that are not empty."""

_BY_NAME = re.compile(r"(?:LICEN[CS]ES?|COPYING)\b[^/]{0,50}", re.IGNORECASE)
_REUSE = ("REUSE.toml", ".reuse/dep5")
_LGPL_3 = re.compile(r"\s*GNU LESSER GENERAL PUBLIC LICENSE\s{1,60}Version 3", re.IGNORECASE)


def is_one(path: str) -> bool:
    """Whether the file tells the repository's licence, by its path."""
    is_text = posixpath.dirname(path) == "LICENSES"
    return is_text or path in _REUSE or _BY_NAME.fullmatch(path) is not None


def families(files: Mapping[str, bytes]) -> frozenset[str]:
    """The binding families that the repository is under. `files`: those that `is_one` names."""
    named, texts = frozenset[str](), frozenset[str]()
    is_lgpl_3 = False
    for path, content in files.items():
        text = content.decode("utf-8", "replace")
        if posixpath.dirname(path) == "LICENSES":
            name = spdx.family(posixpath.basename(path))
            named |= {name} if name else set()
        elif path in _REUSE:
            named |= licences.identified_in(text)
        else:
            texts |= _of(text[:_TEXT])
            is_lgpl_3 = is_lgpl_3 or _LGPL_3.match(text) is not None
    # The Lesser GPL 3 is that of the GPL and more, so that both texts lie side by side.
    return named | (texts - {"GPL"} if is_lgpl_3 else texts)


def _of(text: str) -> frozenset[str]:
    lines = [line for line in text.split("\n") if line.strip()][:_HEAD]
    whole, _ = joined(enumerate(text.split("\n")))
    return licences.stated_in(whole).union(*map(licences.titled, lines))
