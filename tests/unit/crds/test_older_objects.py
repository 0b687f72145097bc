"""What an older release left in a cluster still fits the schemas of today.

Otherwise the API server would refuse every new status of such an object.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from bernstein.crds.kinds import KINDS
from bernstein.crds.schema import definition
from tests.unit.upgrade.decisions import Object
from tests.unit.upgrade.recordings import files, read

_ONE = {"task": "Task", "plan": "Plan", "session": "AgentSession", "project": "Project"}
_MANY = {"tasks": "Task", "plans": "Plan", "sessions": "AgentSession"}


def validator(kind: Any) -> Draft202012Validator:
    (version,) = definition(kind)["spec"]["versions"]
    return Draft202012Validator(version["schema"]["openAPIV3Schema"])


VALIDATORS: Mapping[str, Draft202012Validator] = {kind.name: validator(kind) for kind in KINDS}


def recorded(path: Path) -> Iterator[tuple[str, Object]]:
    """(kind, object) of every version of our objects in one file, each once."""
    seen: set[int] = set()
    for each in read(path):
        one = [(kind, each.given.get(key)) for key, kind in _ONE.items()]
        many = [(kind, obj) for key, kind in _MANY.items() for obj in each.given.get(key) or ()]
        for kind, obj in (*one, *many):
            if obj is not None and id(obj) not in seen:
                seen.add(id(obj))
                yield kind, obj


@pytest.mark.parametrize("path", files(), ids=lambda path: path.name)
def test_an_object_of_the_older_release_fits_the_schema_of_today(path: Path) -> None:
    objects = list(recorded(path))

    problems = [
        f"{kind} {error.json_path}: {error.message[:200]}"
        for kind, obj in objects
        for error in VALIDATORS[kind].iter_errors(obj)
    ]

    assert objects
    assert problems == []


def test_an_object_that_does_not_fit_is_found() -> None:
    problems = VALIDATORS["Task"].iter_errors({"spec": {"title": "x"}, "status": {"state": 7}})

    assert {error.json_path for error in problems} == {"$.status.state"}
