"""Tasks as people declare them: what is refused, how they are called, what they become."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api.task import TaskSpec
from bernstein.api.task import parse as parse_task
from bernstein.api.vocabulary import ROLES
from bernstein.core.names import NAME_LIMIT
from bernstein.core.plans import file as plan_file
from bernstein.core.tasks.declared import (
    Clash,
    Declared,
    by_label,
    declared,
    differing,
    manifest,
    named,
    problems,
    validate_task,
)
from tests.unit.core import objects

SEED = """\
id: "TSK-042"
title: "Implement hybrid retrieval with BM25 fallback"
role: "backend"
priority: 1 # 1=critical, 2=normal, 3=nice-to-have
scope: "medium" # small / medium / large
complexity: "high" # low / medium / high
estimated_minutes: 30
depends_on: ["TSK-040"]
completion_signals:
  - type: "path_exists"
    path: "src/retrieval/bm25.py"
  - type: "test_passes"
    command: "pytest tests/test_bm25.py"
files:
  - "src/retrieval/bm25.py"
  - "tests/test_bm25.py"
"""
"""The example of the architecture page."""


def task(title: str = "Do it", **fields: Any) -> Declared:
    data = {"title": title, **fields}
    assert problems(data).errors == ()
    return declared(data)


def messages(data: object) -> list[str]:
    return [error.message for error in problems(data).errors]


def test_the_example_of_a_task_file_becomes_an_object() -> None:
    data = plan_file.parse(SEED)
    assert problems(data).errors == ()
    assert isinstance(data, dict)
    (one,) = named([declared(data)], {"TSK-040": "tsk-040"})

    made = manifest(one, namespace="team", project=None)

    assert made["metadata"] == {
        "name": "tsk-042",
        "namespace": "team",
        "labels": {"bernstein.dev/seed-id": "TSK-042"},
    }
    assert made["spec"] == {
        "title": "Implement hybrid retrieval with BM25 fallback",
        "role": "backend",
        "priority": 1,
        "scope": "medium",
        "complexity": "high",
        "estimatedMinutes": 30,
        "dependsOn": ["tsk-040"],
        "completionSignals": [
            {"type": "path_exists", "path": "src/retrieval/bm25.py"},
            {"type": "test_passes", "command": "pytest tests/test_bm25.py"},
        ],
        "files": ["src/retrieval/bm25.py", "tests/test_bm25.py"],
    }
    assert TaskSpec.model_validate(made["spec"]).priority == 1


def test_what_a_task_has_beside_a_step_is_taken_too() -> None:
    found = task(constraints=["Be quick."], context_files=["a.md"], max_retries=0, effort="medium")

    spec = TaskSpec.model_validate(found.spec)
    assert (spec.constraints, spec.context_files) == (("Be quick.",), ("a.md",))
    assert (spec.max_retries, spec.effort) == (0, "normal")


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        ([], "a task must be a mapping"),
        ({}, "missing required field 'title'"),
        ({"title": "a", "priority": 9}, "priority: must be between 1 and 5, got 9"),
        ({"title": "a", "roel": "qa"}, "unknown field 'roel', did you mean 'role'?"),
        ({"title": "a", "id": 42}, "id: expected type string, got integer"),
        ({"title": "a", "depends_on": "b"}, "depends_on: expected type array, got string"),
        ({"title": "a", "depends_on": ["b"] * 51}, "depends_on: must have at most 50 items"),
        ({"title": "a", "max_retries": 21}, "max_retries: must be <= 20"),
        ({"title": "a" * 301}, "title: must have at most 300 characters"),
        (
            {"title": "a", "completion_signals": [{"type": "path_exists"}]},
            "completion_signals[0]: missing required field 'path'",
        ),
    ],
)
def test_what_is_wrong_is_told_with_its_place_in_the_task(data: object, problem: str) -> None:
    assert messages(data) == [problem]


def test_a_role_that_only_a_cluster_may_know_is_a_warning() -> None:
    found = problems({"title": "a", "role": "devsecops"})

    (warning,) = found.warnings
    assert found.errors == ()
    assert warning.message.startswith("role: invalid value 'devsecops', must be one of [analyst, ")


def test_the_same_again_has_the_same_name_and_other_content_another_one() -> None:
    def name(one: Declared, project: str | None = None, key: str | None = None) -> str:
        (found,) = named([one], {}, project=project, key=key)
        return found.name

    first = name(task("Add SBOM endpoint", scope="small"))

    assert name(task("Add SBOM endpoint", scope="small")) == first
    assert name(task("Add SBOM endpoint", scope="small", role="backend")) == first
    assert first.startswith("add-sbom-endpoint-")
    others = [
        name(task("Add SBOM endpoint", scope="large")),
        name(task("Add SBOM endpoint", scope="small", depends_on=["a"])),
        name(task("Add SBOM endpoint", scope="small"), project="shop"),
        name(task("Add SBOM endpoint", scope="small"), key="nightly"),
    ]
    assert len({first, *others}) == 5


def test_a_name_stays_what_it_is_in_later_releases() -> None:
    (found,) = named([task("Add SBOM endpoint", scope="small", priority=1)], {})

    assert found.name == "add-sbom-endpoint-9791a381"


def test_by_a_key_what_is_said_of_it_changes_no_name() -> None:
    (one,) = named([task("A", scope="small")], {}, key="build-7")
    (two,) = named([task("A", scope="large")], {}, key="build-7")

    assert one.name == two.name


@pytest.mark.parametrize("title", ["a" * 300, "Ж", "one two three four five six seven eight nine"])
def test_a_name_fits_whatever_the_title(title: str) -> None:
    (one,) = named([task(title)], {})

    parsed = {**manifest(one, namespace="team", project=None)}
    assert len(one.name) <= NAME_LIMIT
    assert one.name == one.name.strip("-").lower()
    assert parse_task(parsed).spec.title == title


def test_tasks_come_after_those_that_they_depend_on() -> None:
    made = named(
        [task("last", id="C", depends_on=["B", "A"]), task("mid", id="B", depends_on=["A"]),
         task("first", id="A")],
        {},
    )  # fmt: skip

    assert [each.name for each in made] == ["a", "b", "c"]
    assert made[2].upstream == ("b", "a")


def test_one_that_is_there_is_found_by_its_name_or_by_the_label_of_its_id() -> None:
    seed = {"name": "tsk-040-x", "labels": {"bernstein.dev/seed-id": "TSK-040"}}
    there = [parse_task({"metadata": m, "spec": {"title": "t"}}) for m in (seed, {"name": "plain"})]

    (made,) = named([task(depends_on=["TSK-040", "plain", "T-Deadbeef"])], by_label(there))

    assert made.upstream == ("tsk-040-x", "plain", "t-deadbeef")


def test_tasks_in_a_circle_or_of_one_name_cannot_be_made() -> None:
    with pytest.raises(Clash, match=r"Cycle detected: a -> b -> a"):
        named([task("1", id="A", depends_on=["B"]), task("2", id="B", depends_on=["A"])], {})
    with pytest.raises(Clash, match=r"'A.1' and 'a-1' would both be Task 'a-1'"):
        named([task("1", id="A.1"), task("2", id="a-1")], {})


def test_what_asks_for_other_work_is_told_by_its_fields() -> None:
    live = TaskSpec(title="a", scope="small", cancel={"reason": "x"}, author="ann")

    assert differing(live, {"title": "a", "scope": "small"}) == []
    assert differing(live, {"title": "a", "dependsOn": ["b"]}) == ["scope", "depends_on"]


def test_the_place_of_a_problem_begins_as_it_is_asked_to() -> None:
    (plain,) = validate_task({"title": "a", "role": "devsecops"}, None, ROLES)
    (placed,) = validate_task({"title": "a", "role": "devsecops"}, None, ROLES, at="spec")

    assert (plain.path, placed.path) == ("role", "spec.role")
    assert placed.message == f"spec.{plain.message}"


def test_a_task_names_a_repository_of_the_project() -> None:
    project = objects.project().spec

    assert declared({"title": "Do it", "repo": "app"}).spec["repo"] == "app"
    assert not [*validate_task({"title": "Do it", "repo": "app"}, project, ROLES)]
    (error,) = validate_task({"title": "Do it", "repo": "apl"}, project, ROLES, at="spec")
    assert error.path == "spec.repo"
    assert "did you mean 'app'" in error.message
