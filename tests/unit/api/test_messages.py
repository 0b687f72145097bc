"""Operators and pods of two releases understand each other: during an upgrade pods of the last one
still run, and after a rollback those of this one.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests import releases
from tests.unit.api import messages
from tests.unit.rooms import ROOT

OURS = ROOT / "operator"
_SHOWN = "it shows a prompt without what the pod added, as it always did"
LATER = {
    "PrepareResult.altered": "it declares paths as they are shown, as it always did",
    **{
        f"{where}.{name}": _SHOWN
        for where in ("PromptResult", "CheckoutResult.prompt")
        for name in ("mark", "parts", "unshown", "untold")
    },
    "RecorderResult.documents": "it reads no document, and no status of it tells of one",
}
"""`Kind.field` that only one release has -> why the other does well without it."""


@pytest.fixture(scope="module")
def last(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return releases.last().unpack(tmp_path_factory.mktemp("last"))


def call(modules: Path, way: str, lines: list[Any]) -> list[Any]:
    done = subprocess.run(
        [sys.executable, "-P", messages.__file__, way],
        env={**os.environ, "PYTHONPATH": str(modules)},
        input="".join(f"{json.dumps(line)}\n" for line in lines),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def lost(said: Any, heard: Any, where: str) -> list[str]:
    """Paths of what was said and not heard."""
    if isinstance(said, dict) and isinstance(heard, dict):
        return [
            path
            for name, value in said.items()
            for path in (
                lost(value, heard[name], f"{where}.{name}")
                if name in heard
                else [f"{where}.{name}"]
            )
        ]
    if isinstance(said, list) and isinstance(heard, list) and len(said) == len(heard):
        both = zip(said, heard, strict=True)
        return [path for one, other in both for path in lost(one, other, f"{where}[]")]
    return [] if said == heard else [where]


def not_understood(speaker: Path, listener: Path) -> set[str]:
    said = call(speaker, "write", [])
    assert len(said) > 20
    found: set[str] = set()
    for (_, name, text), answer in zip(said, call(listener, "read", said), strict=True):
        if answer.startswith("not read"):
            found.add(f"{name}: {answer}")
        else:
            found.update(lost(json.loads(text), json.loads(answer), name))
    return found


def test_what_pods_of_the_last_release_say_is_understood(last: Path) -> None:
    assert not_understood(last, OURS) == set()


def test_after_a_rollback_what_pods_of_this_release_say_is_read(last: Path) -> None:
    """What the last release does not know it leaves out."""
    found = not_understood(OURS, last)

    assert found - LATER.keys() == set()
    assert LATER.keys() <= found, "it is known there by now"


def test_what_is_not_heard_is_told_with_its_place() -> None:
    said = {"a": [{"b": 1, "c": 2}], "d": None, "e": [1]}

    assert lost(said, {"a": [{"b": 1}], "d": None, "e": []}, "X") == ["X.a[].c", "X.e"]
    assert lost(said, {**said, "new": 1}, "X") == []
