"""How an agent says that it can go on only once something else has happened.

It leaves a file for that, which is never committed, or ends its last message with a line. Either is
the agent's to write, and may be hostile: it is read where the agent runs, by the recorder, and what
comes out of it is a few words and names.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

PATH = ".bernstein/blocked.json"
"""Of the file, in the agent's tree: `{"text": "...", "tasks": ["name"]}`."""
MOST_BYTES = 64 << 10
"""Of the file."""
MOST_TASKS = 10
LINE = "BLOCKED:"
"""What the last line of a message begins with that says it."""
_NAME = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?", re.ASCII)
_LONGEST_NAME = 40


@dataclass(frozen=True, slots=True)
class Block:
    """What the agent waits for."""

    text: str
    """In its own words, as they came."""
    tasks: tuple[str, ...] = ()
    """Names of Tasks; whether there are such Tasks is not known here."""


def read(data: bytes) -> Block:
    """What the file says. Raises ValueError, which says in our words what is wrong with it."""
    if len(data) > MOST_BYTES:
        raise ValueError(f"it has more than {MOST_BYTES} bytes")
    try:
        content: Any = json.loads(data.decode())
    except (ValueError, RecursionError):
        raise ValueError("it is no JSON in UTF-8") from None
    text = content.get("text") if isinstance(content, dict) else None
    if not isinstance(text, str) or not text.strip():
        raise ValueError("it is no object with a 'text' that says what is waited for")
    tasks = content.get("tasks", [])
    if not isinstance(tasks, list) or not all(isinstance(name, str) for name in tasks):
        raise ValueError("its 'tasks' is no list of names")
    if len(tasks) > MOST_TASKS:
        raise ValueError(f"it names {len(tasks)} Tasks; {MOST_TASKS} are the limit")
    if not all(map(is_name, tasks)):
        raise ValueError("one of its 'tasks' is no name that a Task may have")
    return Block(text, tuple(dict.fromkeys(tasks)))


def of_message(message: str) -> Block | None:
    """What the last line of a message says; None: that it is not blocked."""
    last = message.rstrip().rpartition("\n")[2].strip()
    text = last.removeprefix(LINE).strip()
    return Block(text) if last.startswith(LINE) and text else None


def is_name(text: str) -> bool:
    """Whether a Task may be called so."""
    return len(text) <= _LONGEST_NAME and _NAME.fullmatch(text) is not None
