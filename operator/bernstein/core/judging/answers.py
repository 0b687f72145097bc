"""What a model has answered, if it is in the form that was asked for; all else is no answer.

A guess at what a model may have meant would be a verdict that nobody gave.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, NoReturn, get_args

from bernstein.core import sanitise

SURE: Final = 0.7
"""Confidence below which a person decides."""
_LONGEST = 16_000
"""Characters of an answer: more than 1,024 tokens are of any language."""
_COMMENT = 2000
_WORDS = ("PASS", "FAIL")
_FENCES = ("```json", "```")
_TEST_BEGINS, _FENCE = "```python", "```"
_MEMBERS = ("verdict", "confidence", "feedback")
Intended = Literal["yes", "partially", "no"]
WEIGHTS: Final[Mapping[str, int]] = {
    "correctness": 35,
    "security": 25,
    "style": 15,
    "performance": 15,
    "maintainability": 10,
}
"""Of the sides that `review_rubric` looks from, in percent."""
MOST_POINTS: Final = 10
MOST_TESTS: Final = 10
_TEST = 300
"""Characters of one test that is missing."""


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


@dataclass(frozen=True, slots=True)
class Intent:
    """The answer to `intent_verification`."""

    said: Intended
    """Whether the change is what was asked for."""
    feedback: str
    """Safe to show."""


@dataclass(frozen=True, slots=True)
class CrossReview:
    """The answer of a reviewer from another maker."""

    approved: bool
    comments: str
    """Safe to show; what has to change, where it was not approved."""


@dataclass(frozen=True, slots=True)
class Rating:
    """The answer to `review_rubric`."""

    points: Mapping[str, float]
    """From 0 to MOST_POINTS for each of WEIGHTS, in that order."""
    feedback: str
    """Safe to show."""

    @property
    def score(self) -> float:
        """The weighted mean, from 0 to MOST_POINTS, in hundredths: it is worked out here, because
        models err in sums."""
        return round(sum(WEIGHTS[side] * given for side, given in self.points.items()) / 100, 2)


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
    members = _members(text, _MEMBERS)
    verdict = members["verdict"]
    if not isinstance(verdict, str) or verdict not in ("accept", "retry"):
        raise FormError("its verdict is neither accept nor retry")
    confidence = _number(members, "confidence", 1)
    return Judgement(verdict == "accept", confidence, _comment(members))


def intent(text: str) -> Intent:
    """One JSON object with exactly two members, alone or in a fence. Raises FormError."""
    members = _members(text, ("verdict", "feedback"))
    for word in get_args(Intended):
        if members["verdict"] == word:
            return Intent(word, _comment(members))
    raise FormError("its verdict is none of yes, partially and no")


def cross_review(text: str) -> CrossReview:
    """One JSON object with exactly two members, alone or in a fence; who asks for changes says
    which. Raises FormError."""
    members = _members(text, ("verdict", "comments"))
    verdict = members["verdict"]
    if not isinstance(verdict, str) or verdict not in ("approve", "request_changes"):
        raise FormError("its verdict is neither approve nor request_changes")
    found = CrossReview(verdict == "approve", _comment(members, "comments"))
    if not found.approved and not found.comments.strip():
        raise FormError("it asks for changes and says none")
    return found


def rating(text: str) -> Rating:
    """One JSON object with a number for each side and a text, alone or in a fence. Raises
    FormError."""
    members = _members(text, (*WEIGHTS, "feedback"))
    points = {side: _number(members, side, MOST_POINTS) for side in WEIGHTS}
    return Rating(points, _comment(members))


def missing_tests(text: str) -> tuple[str, ...]:
    """The tests that a change lacks, safe to show, each on one line: of one JSON object with a list
    of at most MOST_TESTS texts, alone or in a fence. Raises FormError."""
    found = _members(text, ("missing",))["missing"]
    if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
        raise FormError("its missing is no list of texts")
    if len(found) > MOST_TESTS:
        raise FormError(f"its missing has more than {MOST_TESTS} texts")
    lines = tuple(sanitise.line(each, _TEST) for each in found)
    if not all(lines):
        raise FormError("one text of its missing is empty")
    return lines


def written_test(text: str) -> str:
    """The file of Python that a model has written: one block of code, and nothing before or behind
    it. What is in the file, running it tells. Raises FormError."""
    first, *lines = _bounded(text).split("\n")
    if first != _TEST_BEGINS or not lines or lines.pop() != _FENCE:
        raise FormError("it is not one block of Python alone")
    if any(line.startswith(_FENCE) for line in lines):
        raise FormError("there is more than one block of code in it")
    test = "\n".join(lines).rstrip() + "\n"
    if not test.strip():
        raise FormError("its block of code is empty")
    if any(not (c.isprintable() or c in "\n\t") for c in test):
        raise FormError("its block of code holds what nobody sees")
    return test


def _members(text: str, names: Collection[str]) -> dict[str, Any]:
    """The members of one JSON object that has exactly these."""
    members = _object(_unfenced(_bounded(text)))
    if set(members) != {*names}:
        *first, last = names
        named = f"{', '.join(first)} and {last}" if first else last
        raise FormError(f"its members are not {named}")
    return members


def _number(members: Mapping[str, Any], name: str, most: int) -> float:
    value = members[name]
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise FormError(f"its {name} is no number")
    if not 0 <= value <= most:
        raise FormError(f"its {name} is not from 0 to {most}")
    return float(value)


def _comment(members: Mapping[str, Any], name: str = "feedback") -> str:
    said = members[name]
    if not isinstance(said, str):
        raise FormError(f"its {name} is no text")
    return sanitise.text(said, _COMMENT)


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
