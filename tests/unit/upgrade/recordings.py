"""Recorded decisions in files: JSON lines, packed, of which each names objects that stand above it.

One file holds one story. `{"object": id, "is": ...}` is an object in one of its versions;
`{"decision": number, ...}` is what was decided on such objects, and what it made. To read one:
`zcat FILE | grep -n '"decision":3,'`.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import orjson

Object = dict[str, Any]

FOLDER = Path(__file__).parent / "recorded"
SUFFIX = ".jsonl.gz"
_ONE = ("task", "plan", "session", "project", "job")
_MANY = ("tasks", "sessions", "plans", "jobs")


@dataclass(frozen=True)
class Recording:
    """One decision."""

    story: str
    number: int
    now: datetime
    given: Object
    """See `decisions.given`."""
    decided: Object
    """See `decisions.Decided`."""
    made: list[Object]
    """The objects that its actions make; the content of most stands for its hash alone."""

    @property
    def name(self) -> str:
        return f"{self.story}/{self.number}"


@dataclass
class _Objects:
    """Those of one file: each version once."""

    ids: dict[str, str] = field(default_factory=dict)
    versions: dict[str, int] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)

    def id_of(self, kind: str, obj: Object | None) -> str | None:
        if obj is None:
            return None
        text = _text(obj)
        if text not in self.ids:
            name = obj.get("metadata", obj).get("name")
            called = f"{kind}/{name}"
            self.versions[called] = self.versions.get(called, 0) + 1
            self.ids[text] = f"{called}/{self.versions[called]}"
            self.lines.append(_text({"object": self.ids[text], "is": obj}))
        return self.ids[text]


def write(path: Path, recordings: list[Recording]) -> None:
    """All of one story."""
    objects = _Objects()
    for each in recordings:
        given = dict(each.given)
        for key in _ONE:
            if key in given:
                given[key] = objects.id_of(key, given[key])
        for key in _MANY:
            if key in given:
                given[key] = [objects.id_of(key.removesuffix("s"), obj) for obj in given[key]]
        said = {"decision": each.number, "now": each.now.isoformat(), "given": given}
        objects.lines.append(_text(said | {"decided": each.decided, "made": each.made}))
    text = "\n".join(objects.lines) + "\n"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(text.encode(), mtime=0))


def files() -> list[Path]:
    """Of every story, as every release recorded it."""
    return sorted(FOLDER.glob(f"*/*{SUFFIX}"))


def read(path: Path) -> Iterator[Recording]:
    """What `write` wrote."""
    objects: dict[str | None, Object | None] = {None: None}
    for line in gzip.decompress(path.read_bytes()).splitlines():
        said = orjson.loads(line)
        if "object" in said:
            objects[said["object"]] = said["is"]
            continue
        given = said["given"]
        one = {key: objects[given[key]] for key in _ONE if key in given}
        many = {key: [objects[each] for each in given[key]] for key in _MANY if key in given}
        yield Recording(
            story=path.name.removesuffix(SUFFIX),
            number=said["decision"],
            now=datetime.fromisoformat(said["now"]),
            given=given | one | many,
            decided=said["decided"],
            made=said["made"],
        )


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
