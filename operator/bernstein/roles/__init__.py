"""What an agent is told of each role that everybody has: a text for each, as package data.

An agent reads them as a part of its prompt (`core/prompts`). What is told of the Task itself
stands in other parts: a text of a role holds for every Task of it.
"""

from __future__ import annotations

from functools import cache
from importlib import resources

from bernstein.api.vocabulary import ROLES

LONGEST = 1200
"""Bytes of one text: all of it stays in a prompt, whatever else is cut."""


@cache
def text(name: str) -> str | None:
    """What an agent of this role is told; None: there is no built-in role of this name."""
    if name not in ROLES:
        return None
    return resources.files(__name__).joinpath(f"{name}.md").read_text(encoding="utf-8").strip()
