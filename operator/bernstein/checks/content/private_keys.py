"""Private keys in what agents and checks print: they have many lines, which may come one by one."""

from __future__ import annotations

import re

HIDDEN = "*** (a private key)"

_LINES = 200
"""Lines that a private key may have; longer ones end here."""
_NAME = r"[A-Z0-9 ]{0,40}PRIVATE KEY"
_BEGINS = re.compile(rf"-----BEGIN {_NAME}|---- BEGIN {_NAME}")
_ENDS = re.compile(rf"-----?\s?END {_NAME}")
_BODY = re.compile(r"[ \t>|E]{0,16}…?[A-Za-z0-9+/=]*")
"""A line before the end of a key whose beginning is not there, as tests indent it, too."""
_UNSEEN = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|[^\n\x20-\x7e]+")
"""What may stand between the letters of a line without being seen."""


class PrivateKeys:
    """Takes the lines of private keys out of a text that comes in pieces."""

    def __init__(self) -> None:
        self._left = 0

    @property
    def inside(self) -> bool:
        """Whether the last piece ended within a key."""
        return self._left > 0

    def without(self, piece: str) -> str:
        """`piece`, which is sanitised, without lines of keys."""
        if not self._left and "PRIVATE KEY" not in piece:
            return piece
        kept: list[str] = []
        for row in piece.split("\n"):
            inside = self.inside
            self._read(row)
            if inside:
                continue
            if begins := _BEGINS.search(row):
                kept.append(row[: begins.start()] + HIDDEN)
            elif _ENDS.search(row):
                while kept and _BODY.fullmatch(kept[-1]):
                    kept.pop()
                kept.append(HIDDEN)
            else:
                kept.append(row)
        return "\n".join(kept)

    def pass_over(self, piece: str) -> None:
        """Look for where keys begin and end in `piece`, which nobody will see: one that begins in
        it may go on in what is shown. It need not be sanitised; no more is done than is needed."""
        plain = piece if piece.isascii() and piece.isprintable() else _UNSEEN.sub("", piece)
        if self._left or "PRIVATE KEY" in plain:
            for row in plain.split("\n"):
                self._read(row)

    def _read(self, row: str) -> None:
        last = 0
        for begins in _BEGINS.finditer(row):
            last = begins.end()
        if _ENDS.search(row, last):
            self._left = 0
        else:
            self._left = _LINES if last else max(self._left - 1, 0)
