"""A change cut to the characters that a question about it has room for.

Every file gets the same room; what a small one leaves, larger ones have. So one large file hides no
other one. What is left out is counted, for whoever decides on the answer must know of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bernstein.core.sanitise import ELLIPSIS, spelled

MOST_FILES = 200
"""That are shown of a change; the largest are left out."""
_LONGEST_PATH = 300


@dataclass(frozen=True, slots=True)
class FileChange:
    """What a change does to one file."""

    path: str
    patch: str
    """As git shows it, of any length."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A file as a model sees it: nothing is in it that nobody sees."""

    path: str
    """On one line."""
    patch: str
    left_out: int = 0
    """Characters of the patch."""


@dataclass(frozen=True, slots=True)
class Fitted:
    files: tuple[Shown, ...]
    """In the order of the change."""
    unseen: tuple[str, ...] = ()
    """Paths of files that are not shown at all."""

    @property
    def is_cut(self) -> bool:
        return bool(self.unseen) or any(file.left_out for file in self.files)


def fitted(changes: Sequence[FileChange], room: int, hidden: Sequence[str] = ()) -> Fitted:
    """The change in at most `room` characters of patches.

    `hidden`: paths of files of which there is no patch, such as pictures.
    """
    by_size = sorted(range(len(changes)), key=lambda i: (len(changes[i].patch), i))
    chosen = by_size[:MOST_FILES]
    shown: dict[int, Shown] = {}
    for place, index in enumerate(chosen):
        share = max(room, 0) // (len(chosen) - place)
        shown[index] = _shown(changes[index], share)
        room -= len(shown[index].patch)
    unseen = sorted(by_size[MOST_FILES:])
    return Fitted(
        tuple(shown[index] for index in sorted(shown)),
        (
            *(path_shown(changes[index].path) for index in unseen),
            *(path_shown(path) for path in hidden),
        ),
    )


def path_shown(path: str) -> str:
    """A path on one line, at most 301 characters."""
    line = lines_shown(path[: _LONGEST_PATH + 1]).replace("\n", "<U+000A>")
    return line if len(line) <= _LONGEST_PATH else line[:_LONGEST_PATH] + ELLIPSIS


def lines_shown(text: str) -> str:
    """The text with what nobody sees spelled out, and no line end behind it."""
    return _spelled(text.removesuffix("\n"))


def _spelled(text: str) -> str:
    return "\n".join(spelled(row) for row in text.split("\n"))


def _shown(change: FileChange, share: int) -> Shown:
    """Of a patch that is too long whole lines; of a first line that is too long its beginning."""
    patch = change.patch.removesuffix("\n")
    # Spelled out it may become longer, but never shorter.
    text = _spelled(patch[: share + 1])
    if len(text) <= share:
        return Shown(path_shown(change.path), text)
    lines, line_end, _ = text[:share].rpartition("\n")
    kept = lines if line_end else text[:share]
    left_out = max(len(patch), len(text)) - len(kept)
    return Shown(path_shown(change.path), kept, left_out)
