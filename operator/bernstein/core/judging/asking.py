"""A change put as a question to a model.

    system    ours: a versioned text, with the mark in it
    text      criteria     between marks: what the change must meet
              step         between marks: what its author was asked to do
              file N       between marks: what it does to each file
              notes        ours: what was left out, in numbers alone

Whatever is not ours stands between lines with a mark that is drawn for this question and in none of
it. So no word of a change is outside of its place, whatever it says.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from bernstein.checks.prompts import Prompt
from bernstein.core.judging.fitting import FileChange, Fitted, fitted, lines_shown
from bernstein.core.judging.model_reasons import MARK_IN_DATA
from bernstein.core.prompts.marks import Draw, begin, end
from bernstein.core.sanitise import count

MAX_TOKENS: Final = 1024
"""Of an answer."""
TEMPERATURE: Final = 0.0
ROOM = 60_000
"""Characters of patches in a question."""
_LEAST_MARK = 16
_NAMED = 50


class MarkError(Exception):
    """The mark is in what it has to stand around, or is none that nobody can guess."""


@dataclass(frozen=True, slots=True)
class Subject:
    """What is judged."""

    title: str
    description: str
    """Title and description of the step that it was made for."""
    criteria: str
    """Of whoever asks for the judgement; may be empty."""
    changes: Sequence[FileChange]
    hidden: Sequence[str] = ()
    """Paths of changed files that cannot be shown."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One question, with nothing left to decide."""

    prompt: str
    """Name and version of the text that the model is told."""
    system: str
    text: str
    is_cut: bool
    """Part of the change is not in it."""


def ask(prompt: Prompt, subject: Subject, draw: Draw, room: int = ROOM) -> Asked:
    """The question. Raises MarkError.

    `draw` is called once: that a word of 16 random characters or more is in a change is no chance,
    and whoever has guessed one might guess the next.
    """
    word = draw()
    change = fitted(subject.changes, room, subject.hidden)
    data = [*_data(subject, change)]
    if len(word) < _LEAST_MARK or any(word in line for _, lines in data for line in lines):
        raise MarkError(MARK_IN_DATA)
    blocks = [_block(word, title, lines) for title, lines in data]
    text = "\n\n".join([*blocks, *_notes(change)]) + "\n"
    return Asked(prompt.name, prompt.marked(word), text, change.is_cut)


def _data(subject: Subject, change: Fitted) -> Iterator[tuple[str, tuple[str, ...]]]:
    """What others have written: a title of ours for each, and its lines."""
    if subject.criteria:
        yield "criteria", (lines_shown(subject.criteria),)
    yield "step", tuple(lines_shown(t) for t in (subject.title, subject.description) if t)
    for number, file in enumerate(change.files, 1):
        yield f"file {number}", (file.path, file.patch)
    if change.unseen:
        yield "files not shown", change.unseen[:_NAMED]


def _block(word: str, title: str, lines: tuple[str, ...]) -> str:
    return "\n".join((begin(word, title), *lines, end(word, title)))


def _notes(change: Fitted) -> Iterator[str]:
    if not change.files and not change.unseen:
        yield "(The change touches no file.)"
    for number, file in enumerate(change.files, 1):
        if file.left_out:
            yield f"(Of file {number} the last {count(file.left_out, 'character')} are left out.)"
    if change.unseen:
        yield f"({count(len(change.unseen), 'more file')} changed and are not shown.)"
