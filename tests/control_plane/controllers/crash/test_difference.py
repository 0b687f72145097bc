"""Who reads that a story ended otherwise sees in what, and what led to it."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.control_plane.controllers.crash.difference import MOST, differences, explained

END: dict[str, Any] = {
    "tasks": {"one": {"state": "Closed", "moves": ["Open", "Closed"], "waiting": None}},
    "jobs": ["one-s1", "one-s1-lint-0"],
    "pods": Counter({"one-s1": 1, "one-s1-lint-0": 1}),
    "landed": ["refs/heads/main"],
}


def told(**parts: Any) -> list[str]:
    return [str(each) for each in differences({**END, **parts}, END)]


def test_an_end_that_is_the_same_differs_in_nothing() -> None:
    assert told() == []


@pytest.mark.parametrize(
    ("parts", "lines"),
    [
        (
            {"jobs": ["one-s1", "one-s2"]},
            [
                "jobs / one-s1-lint-0: (absent), undisturbed: there",
                "jobs / one-s2: there, undisturbed: (absent)",
            ],
        ),
        (
            {"pods": Counter({"one-s1": 2, "one-s1-lint-0": 1})},
            ["pods / one-s1: 2, undisturbed: 1"],
        ),
        (
            {"tasks": {"one": {"state": "Open", "moves": ["Open"], "waiting": {"reason": "X"}}}},
            [
                "tasks / one / state: 'Open', undisturbed: 'Closed'",
                "tasks / one / moves / Closed: (absent), undisturbed: there",
                "tasks / one / waiting: {'reason': 'X'}, undisturbed: None",
            ],
        ),
        ({"tasks": {}}, [f"tasks / one: (absent), undisturbed: {END['tasks']['one']!r}"]),
        ({"landed": END["landed"] * 2}, ["landed / refs/heads/main: 2 times, undisturbed: there"]),
    ],
)
def test_every_difference_is_told_where_it_is(parts: dict[str, Any], lines: list[str]) -> None:
    assert told(**parts) == lines


def test_another_order_is_a_difference() -> None:
    assert [str(each) for each in differences({"moves": ["A", "B"]}, {"moves": ["B", "A"]})] == [
        "moves: ['A', 'B'], undisturbed: ['B', 'A']"
    ]


def line(verb: str, resource: str, name: str, namespace: str = "here") -> str:
    event = {
        "auditID": "x",
        "stage": "ResponseComplete",
        "stageTimestamp": "2030-01-02T03:04:05.678901Z",
        "verb": verb,
        "user": {"username": "system:serviceaccount:bernstein-system:bernstein-operator"},
        "objectRef": {"resource": resource, "namespace": namespace, "name": name},
        "responseStatus": {"code": 200},
    }
    return json.dumps(event) + "\n"


async def explanation(folder: Path, lines: list[str]) -> list[str]:
    log = folder / "audit"
    log.write_text("".join(lines))
    world: Any = SimpleNamespace(log=log, started=0, namespace="here")
    return (await explained(world, END | {"jobs": ["one-s1"]}, END)).splitlines()


async def test_what_was_written_of_a_job_that_differs_is_told_and_of_no_other(
    tmp_path: Path,
) -> None:
    lines = [
        line("create", "jobs", "one-s1"),
        line("create", "jobs", "one-s1-lint-0"),
        line("patch", "pods", "one-s1-lint-0-abcde"),
        line("patch", "pods", "one-s1-abcde"),
        line("delete", "jobs", "one-s1-lint-0"),
        line("delete", "jobs", "one-s1-lint-0", namespace="there"),
    ]
    assert await explanation(tmp_path, lines) == [
        "1 differences:",
        "jobs / one-s1-lint-0: (absent), undisturbed: there",
        "written of one-s1-lint-0:",
        "03:04:05.678 bernstein-operator: create jobs/one-s1-lint-0 200",
        "03:04:05.678 bernstein-operator: patch pods/one-s1-lint-0-abcde 200",
        "03:04:05.678 bernstein-operator: delete jobs/one-s1-lint-0 200",
    ]


async def test_of_many_writes_the_last_ones_are_told(tmp_path: Path) -> None:
    lines = [line("patch", "jobs", "one-s1-lint-0") for _ in range(MOST)]
    found = await explanation(tmp_path, [*lines, line("delete", "jobs", "one-s1-lint-0")])
    assert len(found) == MOST + 3
    assert found[-1].endswith("delete jobs/one-s1-lint-0 200")
