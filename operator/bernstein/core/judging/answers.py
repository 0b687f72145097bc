"""What a model has answered, if it is in the form that was asked for; all else is no answer.

A guess at what a model may have meant would be a verdict that nobody gave.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final, NoReturn

from bernstein.core import sanitise

SURE: Final = 0.7
"""Confidence below which a person decides."""
_LONGEST = 16_000
"""Characters of an answer: more than 1,024 tokens are of any language."""
_COMMENT = 2000
_WORDS = ("PASS", "FAIL")
_FENCES = ("```json", "```")
_MEMBERS = {"verdict", "confidence", "feedback"}


class FormError(ValueError):
    """It is not in the form; the text says how, and quotes nothing of it."""


@dataclass(frozen=True, slots=True)
class Review:
    """The answer to `llm_review`."""

    passed: bool
    comment: str
    """Safe to show."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """The answer to `llm_judge`."""

    accepted: bool
    confidence: float
    """From 0 to 1."""
    feedback: str
    """Safe to show."""

    @property
    def is_sure(self) -> bool:
        return self.confidence >= SURE


def review(text: str) -> Review:
    """PASS or FAIL alone on the first line, and on no other. Raises FormError."""
    first, *others = _bounded(text).split("\n")
    word = first.rstrip()
    if word not in _WORDS:
        raise FormError("its first line is neither PASS nor FAIL")
    if any(_is_verdict(line) for line in others):
        raise FormError("a verdict stands on more than one line")
    return Review(word == "PASS", sanitise.text("\n".join(others), _COMMENT))


def _is_verdict(line: str) -> bool:
    """Whether a line says no more than one of the words, however it is adorned."""
    letters = "".join(c for c in line[: 4 * _COMMENT] if c.isalpha()).upper()
    return letters in _WORDS or letters in {f"VERDICT{word}" for word in _WORDS}


def judgement(text: str) -> Judgement:
    """One JSON object with exactly three members, alone or in a fence. Raises FormError."""
    members = _object(_unfenced(_bounded(text)))
    if set(members) != _MEMBERS:
        raise FormError("its members are not verdict, confidence and feedback")
    verdict, confidence, feedback = (
        members[name] for name in ("verdict", "confidence", "feedback")
    )
    if not isinstance(verdict, str) or verdict not in ("accept", "retry"):
        raise FormError("its verdict is neither accept nor retry")
    if isinstance(confidence, bool) or not isinstance(confidence, int | float):
        raise FormError("its confidence is no number")
    if not 0 <= confidence <= 1:
        raise FormError("its confidence is not from 0 to 1")
    if not isinstance(feedback, str):
        raise FormError("its feedback is no text")
    return Judgement(verdict == "accept", float(confidence), sanitise.text(feedback, _COMMENT))


def _bounded(text: str) -> str:
    if len(text) > _LONGEST:
        raise FormError(f"it has more than {_LONGEST:,} characters")
    return text.replace("\r\n", "\n").strip(" \t\n")


def _unfenced(text: str) -> str:
    """Without a fence of Markdown around the whole of it, which models put there unasked."""
    first, *lines = text.split("\n")
    if first in _FENCES and lines and lines[-1] == "```":
        return "\n".join(lines[:-1])
    return text


def _object(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text, object_pairs_hook=_once, parse_constant=_no_constant)
    except FormError:
        raise
    except (ValueError, RecursionError):
        raise FormError("it is no JSON") from None
    if not isinstance(found, dict):
        raise FormError("it is no JSON object")
    return found


def _once(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise FormError("a member is there twice")
        found[name] = value
    return found


def _no_constant(_name: str) -> NoReturn:
    raise FormError("a number in it is none")
