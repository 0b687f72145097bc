"""What models are told that judge a change: a file for each check and version.

A text stays as it is once work may have been judged by it; another one is another version.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Final

MARK = "{{MARK}}"
"""In a text: the word on the lines around what others have written."""


@dataclass(frozen=True, slots=True)
class Prompt:
    name: str
    """`llm_review.v1`: check and version."""
    text: str

    def marked(self, word: str) -> str:
        """The text with the word in its places."""
        return self.text.replace(MARK, word)


_NAME = re.compile(r"[a-z_]+\.v[0-9]+")
CURRENT: Final = {
    "llm_review": 1,
    "llm_judge": 1,
    "intent_verification": 1,
    "review_rubric": 1,
    "test_expansion": 1,
    "integration_test_gen": 1,
    "cross_model": 1,
}
"""The version that is asked with, by check."""


def current(check: str) -> str:
    """Name and version of the text that a check asks with."""
    return f"{check}.v{CURRENT[check]}"


def prompt(check: str) -> Prompt:
    """The text of a check, in its current version."""
    return named(current(check))


@cache
def named(name: str) -> Prompt:
    """The text of this name and version. Raises KeyError where this release has none."""
    check, _, _ = name.partition(".")
    if check not in CURRENT or not _NAME.fullmatch(name):
        raise KeyError(name)
    file = resources.files(__name__).joinpath(f"{name}.md")
    if not file.is_file():
        raise KeyError(name)
    return Prompt(name, file.read_text(encoding="utf-8"))
