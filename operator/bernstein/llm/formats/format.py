"""What a provider's wire format is: a request out of a question, an answer out of a response.

Bodies are JSON as `json.loads` gives it, from whoever answers at the address. So whatever is read
of them is looked at before it is used.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from bernstein.llm.question import Question
from bernstein.web.json_values import Json


class UnreadableError(Exception):
    """The body is no answer in this format; the text says what is missing, and quotes nothing."""


class ReportedError(Exception):
    """The body is an error of the provider's, though its HTTP status is 200."""

    def __init__(self, status: int, error: Any) -> None:
        """`status`: the one of HTTP that it would have; `error`: the error of the body."""
        super().__init__(f"an error with the status {status} in an answer")
        self.status = status
        self.error = error


@dataclass(frozen=True, slots=True)
class Tokens:
    """Counts as the provider says them: of any type, or None."""

    whole_input: Any = None
    """With those from and to a cache."""
    output: Any = None
    cache_read: Any = None
    cache_write: Any = None


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer of which it is not known yet whether it is any use."""

    text: str
    end: Literal["whole", "cut", "refused"]
    tokens: Tokens = field(default_factory=Tokens)


@dataclass(frozen=True, slots=True)
class Format:
    """A wire format."""

    path: Callable[[str], str]
    """Below the base address, for a model."""
    headers: Callable[[str], Mapping[str, str]]
    """For a key."""
    body: Callable[[str, Question], Json]
    """For a model."""
    reply: Callable[[Json], Reply]
    """Raises UnreadableError and ReportedError."""


def with_temperature(body: Json, question: Question, name: str = "temperature") -> Json:
    """The body with the question's temperature, where it has one."""
    return body if question.temperature is None else {**body, name: question.temperature}
