"""The whole prompt of a session, by the same code wherever somebody puts it together: in the pod,
for its agent, and on the machine of a person who wants to read it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bernstein.agents.adapter import PROMPT_BYTES
from bernstein.core.prompts import parts
from bernstein.core.prompts.assembly import Assembled, ContextFile, Told, assemble
from bernstein.core.prompts.marks import Draw


def complete(
    content: Mapping[str, str],
    files: Sequence[ContextFile],
    change: str,
    resumed: bool | None,
    draw: Draw,
    knowledge: Sequence[Told] = (),
) -> Assembled:
    """`content` is that of the session's ConfigMap. `files`, what of `knowledge` has a path, and
    `change`, what the attempt before changed, are the repository's; "": it is not asked for, or
    there is none.

    `resumed`: whether its files are those of a checkpoint besides; None: they were to be of none.
    """
    texts = parts.texts_of(content)
    if change:
        texts[parts.CHANGE] = change
    return assemble(parts.begun(texts, resumed=bool(resumed)), files, draw, PROMPT_BYTES, knowledge)


def unshown(reason: str) -> str:
    """What stands in place of a change that cannot be had."""
    return f"(It cannot be shown: {reason}.)"
