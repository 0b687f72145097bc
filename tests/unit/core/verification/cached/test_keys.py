"""A key names all that makes a verdict what it is: with any of it changed there is no verdict."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bernstein.api.pod import Check
from bernstein.checks.gate import Plugin
from bernstein.checks.spec import CheckSpec
from bernstein.core.verification.cached import key_of
from bernstein.core.verification.look import Question
from tests.unit.core import objects
from tests.unit.core.objects import BASE, verification

CHECK = CheckSpec(
    name="lint", kind="gate", title="lint", required=True, command="make lint", image="toolchain:1"
)
READING = replace(CHECK, command=None, image=None, reads=Check("lint", "lint"))
DIGESTS = ("sha256:a", "sha256:b")
_OTHER: dict[str, Any] = {
    "kind": "signal",
    "plugin": Plugin(says_required=True, says_condition=False),
    "reads": Check("lint", "lint", files=("a",)),
    "condition": "python_changed",
    "asks": None,
}


def question(check: CheckSpec = CHECK, **more: Any) -> Question:
    asked: dict[str, Any] = {"pinned_sha": BASE, "onto": "refs/heads/main", "title": "Do work"}
    known = {"job": lambda check, number: f"{check}-{number}", "project": objects.project()}
    return Question(checks=(check,), **(asked | known | more))


def key(check: CheckSpec = CHECK, digests: tuple[str, ...] = DIGESTS, **more: Any) -> str:
    return key_of(check, question(check, **more), verification(), digests)


def other(field: str) -> Any:
    """Another value of a field of a check."""
    if field in _OTHER:
        return _OTHER[field]
    match getattr(CHECK, field):
        case bool() as value:
            return not value
        case int() as value:
            return value + 1
        case tuple():
            return ("a",)
        case None if field in ("tolerance", "least"):
            return 0.5
        case _:
            return "another"


SETTINGS = [field.name for field in fields(CheckSpec) if field.name != "asks"]


@pytest.mark.parametrize("field", SETTINGS)
def test_any_other_setting_of_the_gate_is_another_key(field: str) -> None:
    assert key(replace(CHECK, **{field: other(field)})) != key()


@pytest.mark.parametrize(
    "more",
    [
        {"title": "Do something else"},
        {"description": "by hand"},
        {"pinned_sha": objects.sha(1)},
        {"project": objects.project(pods={"runtimeClassName": "gvisor"})},
        {"project": objects.project(pods={"nodeSelector": {"kubernetes.io/arch": "arm64"}})},
        {"project": objects.project(toolchain={"image": "t:1", "readOnlyRootFilesystem": False})},
        {"project": objects.project(toolchain={"image": "t:1", "resources": {"memory": "2Gi"}})},
    ],
    ids=["title", "description", "pinned commit", "runtime class", "nodes", "root", "memory"],
)
def test_so_is_whatever_else_a_command_runs_with_or_can_read(more: Any) -> None:
    assert key(**more) != key()


@pytest.mark.parametrize("field", ["tree", "base"])
def test_so_is_another_tree_or_another_commit_before_it(field: str) -> None:
    judged = verification(**{field: objects.sha(1)})

    assert key_of(CHECK, question(), judged, DIGESTS) != key()


@pytest.mark.parametrize("digests", [("sha256:a", "sha256:c"), ("sha256:c", "sha256:b")])
def test_so_is_another_image(digests: tuple[str, ...]) -> None:
    assert key(digests=digests) != key()


def test_another_time_limit_is_another_key_of_what_only_reads() -> None:
    patient = objects.project(gates={"timeoutSeconds": 999})

    assert key(READING, project=patient) != key(READING)


def test_what_a_reading_gate_cannot_know_of_makes_no_other_key() -> None:
    richer = objects.project(toolchain={"image": "t:1", "resources": {"memory": "2Gi"}})

    assert key(READING, project=richer, title="Do something else") == key(READING)


@pytest.mark.parametrize(
    "more",
    [
        {"ref": "refs/bernstein/1/other/s1"},
        {"sha": objects.sha(2)},
        {"round": 7},
        {"candidate": True},
    ],
    ids=["ref", "commit", "round", "candidate"],
)
def test_where_the_tree_lies_makes_no_other_key(more: Any) -> None:
    assert key_of(CHECK, question(), verification(**more), DIGESTS) == key()


TEXTS = st.text(max_size=8)
PARTS = st.tuples(TEXTS, TEXTS, TEXTS, TEXTS)


@given(PARTS, PARTS)
def test_texts_do_not_run_into_each_other(one: Any, two: Any) -> None:
    def of(command: str, image: str, title: str, description: str) -> str:
        check = replace(CHECK, command=command, image=image)
        return key(check, title=title, description=description)

    assert (of(*one) == of(*two)) == (one == two)
