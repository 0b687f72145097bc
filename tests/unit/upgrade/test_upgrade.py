"""What an older release left in a cluster, this one takes over and goes on with as it would have.

The recordings hold what the older code decided, and on what; see `capture` for how they are made.
Where one does not hold any more, today's code has changed what it does with objects that are out
there: either that is a mistake, or it stands in `changes`, with the reason.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from bernstein.checks import gates
from bernstein.core.snapshot import TaskSnapshot
from bernstein.core.verification.expected import required
from tests.unit.upgrade import made, moments, then
from tests.unit.upgrade.change import Change
from tests.unit.upgrade.changes import CHANGES, follows_its_landing
from tests.unit.upgrade.decisions import Decided, Object, decide, snapshot
from tests.unit.upgrade.differences import Pair, compared
from tests.unit.upgrade.recordings import FOLDER, Recording, files, read


@pytest.fixture(autouse=True)
def _asked_as_then(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gates, "GATES", then.GATES)
    monkeypatch.setattr(required, "_SILENCED", then.SILENCED)


EVERY = pytest.mark.parametrize("path", files(), ids=lambda path: path.name)


@dataclass(frozen=True)
class Replay:
    """One story, decided once more: only what is asked of it is kept, for its objects are many."""

    differing: tuple[Pair, ...]
    made: tuple[tuple[str, list[Object], list[Object]], ...]
    """The name of a decision, the objects that it made, and those that it makes today."""


@cache
def replay(path: Path) -> Replay:
    pairs: list[Pair] = []
    objects: list[tuple[str, list[Object], list[Object]]] = []
    for each in read(path):
        today = decide(each.given, each.now) if each.decided else None
        pair = None if today is None else compared(each, today)
        pairs += [] if pair is None else [pair]
        if pair is not None and any(d.path == "actions" for d in pair.differences):
            continue  # what is asked for otherwise on purpose makes other objects
        now = launched(each) if today is None else made_by(today)
        objects += [(each.name, each.made, now)] if each.made or now else []
    return Replay(tuple(pair for pair in pairs if pair.differences), tuple(objects))


def made_by(today: Decided) -> list[Object]:
    asked = (made.objects(today.snapshot, action) for action in today.actions)
    return [obj for objects in asked for obj in objects]


def launched(each: Recording) -> list[Object]:
    of_task = snapshot(each.given)
    assert isinstance(of_task, TaskSnapshot)
    return made.launched(of_task)


def test_there_are_recordings() -> None:
    assert len(files()) > 50


@EVERY
def test_today_decides_as_the_older_code_did(path: Path) -> None:
    for pair in replay(path).differing:
        unexplained = [
            str(each)
            for each in pair.differences
            if not any(change.explains(pair, each) for change in CHANGES)
        ]
        assert not unexplained, pair.name


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.why)
def test_a_change_is_seen_in_recordings(change: Change) -> None:
    assert any(
        change.explains(pair, each)
        for path in files()
        for pair in replay(path).differing
        for each in pair.differences
    )


@EVERY
def test_today_makes_the_objects_that_the_older_code_made(path: Path) -> None:
    """So that either finds the other's under its name, and takes it for its own."""
    for name, was, now in replay(path).made:
        assert [*map(made.identity, now)] == [*map(made.identity, was)], name
        for old, new in zip(was, now, strict=True):
            assert not made.is_whole(old) or new == old, name


@pytest.mark.parametrize("path", sorted(FOLDER.glob(f"*/{moments.NAME}")), ids=str)
def test_today_brings_what_the_older_code_began_to_the_same_end(path: Path) -> None:
    for moment in moments.read(path):
        end = moments.end(moments.world_of(moment))
        if follows_its_landing(moment):
            assert end["plan"][0] == "Succeeded"
            continue
        assert json.loads(json.dumps(end)) == moment["end"], (moment["story"], moment["now"])
