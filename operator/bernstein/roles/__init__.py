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


DESCRIPTIONS = {
    "analyst": "finds out how something is, and writes it down so that others can decide by it",
    "architect": "decides how parts fit together, and what must always hold",
    "backend": "builds what works behind an interface: APIs, rules, storage, jobs",
    "ci-fixer": "makes what fails in CI pass again by mending its cause",
    "data": "builds what moves, shapes and stores data",
    "devops": "writes what builds, ships and runs software",
    "docs": "writes what lets somebody use, understand or change the software",
    "frontend": "builds what people see and use",
    "manager": "turns a goal into work that others can do and a program can check",
    "ml-engineer": "builds what trains, evaluates and serves models",
    "prompt-engineer": "writes what models are told, and the tests of that",
    "qa": "finds out whether software does what it should, and leaves tests",
    "resolver": "brings two lines of work together so that both keep what they were for",
    "retrieval": "builds what finds the right pieces of many: indexing, search, ranking",
    "reviewer": "reads work of others, and says what would go wrong with it",
    "security": "finds how something can be abused, and closes it",
    "visionary": "says what a product could become, in a way to disagree with",
    "vp": "decides between ways to spend people, time and money",
}
"""What each is for, for people who choose one."""


@cache
def text(name: str) -> str | None:
    """What an agent of this role is told; None: there is no built-in role of this name."""
    if name not in ROLES:
        return None
    return resources.files(__name__).joinpath(f"{name}.md").read_text(encoding="utf-8").strip()
