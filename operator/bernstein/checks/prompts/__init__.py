"""What models are told that judge a change: a file for each check and version.

A text stays as it is once work may have been judged by it; another one is another version.
"""

from __future__ import annotations

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


CURRENT: Final = {"llm_review": 1, "llm_judge": 1}
"""The version that is asked with, by check."""


@cache
def prompt(check: str) -> Prompt:
    """The text of a check, in its current version."""
    name = f"{check}.v{CURRENT[check]}"
    text = resources.files(__name__).joinpath(f"{name}.md").read_text(encoding="utf-8")
    return Prompt(name, text)
