"""The parts of a prompt that the operator writes: their names, and how much of each always stays.

The operator leaves each in the ConfigMap of a session; the pod adds what it reads from git.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

SUFFIX = ".md"
CONTEXT = "context.json"
"""Key of the paths whose contents the prompt is to hold: a list, for a path may have line ends."""


@dataclass(frozen=True, slots=True)
class Part:
    """One text of a prompt."""

    name: str
    share: int
    """Percent of the budget that cutting leaves to it."""

    @property
    def key(self) -> str:
        """Of the ConfigMap, and the file's name in the pod."""
        return f"{self.name}{SUFFIX}"


HEAD = Part("head", 20)
"""Task, attempt, role, goal and stage."""
ROLE = Part("role", 4)
"""How an agent of its role works, and when it is done."""
DESCRIPTION = Part("description", 15)
FILES = Part("files", 8)
CONSTRAINTS = Part("constraints", 8)
SIGNALS = Part("signals", 8)
NOTES = Part("notes", 3)
"""What else holds of this attempt, in our words."""
FOLDERS = Part("folders", 0)
"""Which part of the repository is checked out, in our words; a prompt has it in its NOTES."""
RESUMED = Part("resumed", 0)
"""The notes of a session that begins with the files of a checkpoint, in our words."""
AFRESH = Part("afresh", 0)
"""Those of the same session where these files cannot be had."""
EITHER = (RESUMED, AFRESH)
"""Only the pod knows which of them holds: `begun` makes it part of NOTES."""
NOTED = (FOLDERS, *EITHER)
"""What `begun` makes part of NOTES, or leaves out."""
FINDINGS = Part("findings", 0)
"""Why the attempt before was rejected."""
EARLIER = Part("earlier", 0)
"""What was found in the work of the same Plan that this follows."""
SAID = Part("review", 3)
"""What people and CI have said of the pull request."""
RULES = Part("rules", 3)
"""How to report, in our words."""
UNREAD = Part("unread files", 3)
"""Context files without contents, each with a sentence on why. Only the pod knows these."""
KNOWLEDGE = Part("knowledge", 0)
"""What the Project tells all its agents: texts that stand there as a whole, or not at all."""
UNKNOWN = Part("unread knowledge", 0)
"""What of that is not there, each with a sentence on why."""
CHANGE = Part("rejected change", 0)
"""What the attempt before changed. Only the pod knows it."""

TASK = (HEAD, DESCRIPTION, FILES, CONSTRAINTS, SIGNALS)
"""What the agent is asked to do, in the words of who asks."""
WRITTEN = (ROLE, *TASK, NOTES, FOLDERS, RESUMED, AFRESH, FINDINGS, EARLIER, SAID, RULES)
"""What the operator writes."""
CUT_ORDER = (
    *(CHANGE, KNOWLEDGE, FINDINGS, EARLIER, SAID, UNREAD, UNKNOWN, ROLE, FILES, SIGNALS),
    *(CONSTRAINTS, DESCRIPTION, HEAD, NOTES, RULES),
)
"""What loses its end where the prompt is too long, the first one first; of KNOWLEDGE the largest
texts go as a whole. Before all of these, contents of context files are left out so."""


def data(texts: Mapping[Part, str], context: Iterable[str]) -> dict[str, str]:
    """The ConfigMap's content; what is empty has no key."""
    written = {part.key: texts[part] for part in WRITTEN if texts.get(part)}
    paths = [*context]
    return written | ({CONTEXT: json.dumps(paths, ensure_ascii=False)} if paths else {})


def texts_of(content: Mapping[str, str]) -> dict[Part, str]:
    """The parts of a ConfigMap's content; other keys are nothing of a prompt."""
    return {part: content[part.key] for part in WRITTEN if content.get(part.key)}


def begun(texts: Mapping[Part, str], *, resumed: bool) -> dict[Part, str]:
    """The parts that hold, of a session that began with the files of a checkpoint, or without.

    Who has the files needs no word on what was found before, and has what was changed in them.
    """
    goes_on = bool(texts.get(RESUMED))
    which = (RESUMED if resumed else AFRESH,) if goes_on else ()
    told = (FINDINGS, CHANGE) if goes_on and resumed else ()
    notes = "\n\n".join(filter(None, map(texts.get, (NOTES, FOLDERS, *which))))
    kept = {part: text for part, text in texts.items() if part not in (NOTES, *NOTED, *told)}
    return kept | ({NOTES: notes} if notes else {})


def context_of(content: Mapping[str, str]) -> tuple[str, ...]:
    """The paths of a ConfigMap's content. Raises ValueError for what `data` did not write."""
    paths = json.loads(content.get(CONTEXT, "[]"))
    if not isinstance(paths, list) or not all(isinstance(path, str) for path in paths):
        raise ValueError(f"{CONTEXT} is no list of paths")
    return tuple(paths)
