"""What a Project tells all its agents, as the ConfigMap of a session's prompt has it.

Texts of the Project's ConfigMaps are copied when the session begins: who reads the prompt later
reads them as the agent did, whatever has become of theirs. Of the repository there are the paths;
the pod adds what is there.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from bernstein.agents.adapter import PROMPT_BYTES
from bernstein.api.projects.knowledge import KnowledgeKey
from bernstein.core import labels
from bernstein.core.prompts.assembly import LARGEST, NO_ROOM, Told
from bernstein.core.sanitise import line

LIST = "knowledge.json"
"""Key of the list of what there is, in the order of the Project."""
_PREFIX, _SUFFIX = "knowledge-", ".md"
_WHY = 600
"""Characters of a sentence on why there is no text."""
_TOO_MANY = "bytes are too many for a prompt"


def key(name: str) -> str:
    """Of the ConfigMap, and the file's name in the pod."""
    return f"{_PREFIX}{name}{_SUFFIX}"


def is_of(key: str) -> bool:
    """Whether a ConfigMap has knowledge, or the list of it, under this key."""
    return key == LIST or (key.startswith(_PREFIX) and key.endswith(_SUFFIX))


# --- what the operator reads --------------------------------------------------------------------


def of_config_map(name: str, source: KnowledgeKey, found: Mapping[str, Any] | None) -> Told:
    """What is under the key of the ConfigMap, or why nothing is told of it; None: there is none."""
    where = f"ConfigMap '{source.name}'"
    if found is None:
        return Told(name, None, f"it could not be read: there is no {where}")
    if (found["metadata"].get("labels") or {}).get(labels.MANAGED_BY) == labels.MANAGER:
        return Told(name, None, f"it could not be read: {where} is one of Bernstein's own")
    text: str | None = (found.get("data") or {}).get(source.key)
    if text is None and source.key in (found.get("binaryData") or {}):
        return Told(name, None, f"'{source.key}' of {where} is no text in UTF-8")
    if text is None:
        return Told(name, None, f"it could not be read: {where} has no key '{source.key}'")
    size = len(text.encode())
    if size > LARGEST:
        return Told(name, None, f"{size:,} {_TOO_MANY}: {LARGEST:,} at most")
    if not text.strip():
        return Told(name, None, f"'{source.key}' of {where} is empty")
    return Told(name, text)


def bounded(told: Iterable[Told]) -> tuple[Told, ...]:
    """Without the largest texts, as many as no prompt has room for: a prompt would lack the same.

    What is left fits a ConfigMap, whatever else a prompt has.
    """
    kept = [*told]
    while True:
        sizes = [len((each.text or "").encode()) for each in kept]
        if sum(sizes) <= PROMPT_BYTES:
            return tuple(kept)
        largest = max(range(len(kept)), key=lambda n: (sizes[n], n))
        why = NO_ROOM.format(size=sizes[largest])
        kept[largest] = Told(kept[largest].name, None, why)


def is_too_long(why: str) -> bool:
    """Whether a text is there, and not told for its size alone."""
    return NO_ROOM.partition(" bytes")[2] in why or _TOO_MANY in why


# --- how it is kept -----------------------------------------------------------------------------


def data(told: Iterable[Told]) -> dict[str, str]:
    """Keys and texts of the ConfigMap; none where nothing is told."""
    every = [*told]
    entries = [
        {"name": each.name}
        | ({"path": each.path} if each.path else {})
        | ({"why": each.why} if each.text is None and not each.path else {})
        for each in every
    ]
    texts = {key(each.name): each.text for each in every if each.text is not None}
    return ({LIST: json.dumps(entries, ensure_ascii=False)} if entries else {}) | texts


def told_in(content: Mapping[str, str]) -> tuple[Told, ...]:
    """What a ConfigMap's content tells; of the repository's files only their paths.

    Raises ValueError for what `data` did not write.
    """
    return tuple(_told(entry, content) for entry in _entries(content))


def keys(content: Mapping[str, str]) -> tuple[str, ...]:
    """Those of all texts that its list has. Raises ValueError for what `data` did not write."""
    return tuple(key(entry["name"]) for entry in _entries(content))


def names_same(one: Mapping[str, str], other: Mapping[str, str]) -> bool:
    """Whether two contents tell of the same, by name and path, whatever its text is or why there is
    none."""
    try:
        first, second = _entries(one), _entries(other)
    except ValueError:
        return False
    return [(each["name"], each.get("path")) for each in first] == [
        (each["name"], each.get("path")) for each in second
    ]


def _told(entry: Mapping[str, str], content: Mapping[str, str]) -> Told:
    name, path = entry["name"], entry.get("path", "")
    text = None if path else content.get(key(name))
    why = "" if text is not None else line(entry.get("why", ""), _WHY)
    return Told(name, text, why, path)


def _entries(content: Mapping[str, str]) -> list[dict[str, str]]:
    entries = json.loads(content.get(LIST, "[]"))
    if not isinstance(entries, list) or not all(map(_is_entry, entries)):
        raise ValueError(f"{LIST} is no list of knowledge")
    return entries


def _is_entry(entry: object) -> bool:
    if not isinstance(entry, dict) or not isinstance(entry.get("name"), str):
        return False
    return "/" not in entry["name"] and all(isinstance(value, str) for value in entry.values())
