"""Which Project an object belongs to, and whether it is sound."""

from __future__ import annotations

import pytest

from bernstein.api.project import Project
from bernstein.core import projects
from bernstein.core.diagnosis import Diagnosis
from tests.unit.core.objects import NOW, at, project, told

ONE, TWO, DEFAULT = project("one"), project("two"), project("default")
LEAVING = ONE.model_copy(
    update={"metadata": ONE.metadata.model_copy(update={"deletion_timestamp": NOW})}
)


@pytest.mark.parametrize(
    ("ref", "offered", "found"),
    [
        ("two", [ONE, TWO], "two"),
        (None, [ONE], "one"),
        (None, [ONE, DEFAULT], "default"),
        (None, [ONE, TWO], "there are 2 Projects"),
        (None, [], "there is no Project"),
        ("three", [ONE], "there is no Project 'three'"),
        ("one", [LEAVING], "there is no Project 'one'"),
        (None, [LEAVING, TWO], "two"),
    ],
)
def test_a_project_is_named_or_the_only_one_or_the_default(
    ref: str | None, offered: list[Project], found: str
) -> None:
    got = projects.resolve(ref, offered)

    assert found in (got if isinstance(got, str) else got.metadata.name)


def test_a_project_says_how_many_agents_run_and_is_quiet_when_nothing_changed() -> None:
    first = projects.decide(project(), 3, None, NOW)
    again = project().model_copy(update={"status": first})

    assert (first.running, first.observed_generation) == (3, 1)
    assert told(first.conditions) == {"Ready": ("True", "Accepted")}
    assert projects.decide(again, 3, None, at(60)) == first


def test_one_account_for_work_and_delivery_is_a_warning() -> None:
    same = {a: {"secretName": "git"} for a in ("read", "work", "deliver")}
    repository = {"name": "app", "url": "https://git.example/app.git", "credentials": same}
    weak = project(repositories=[repository])

    warned = projects.decide(weak, 0, None, NOW)
    assert told(warned.conditions)["WorkCredentialTooStrong"] == ("True", "SameSecret")

    mended = project().model_copy(update={"status": warned})
    assert "WorkCredentialTooStrong" not in told(projects.decide(mended, 0, None, NOW).conditions)


def test_a_project_with_a_problem_is_not_ready_says_what_helps_and_recovers() -> None:
    problem = Diagnosis("NetworkPolicyRefused", "networkpolicies is forbidden")
    told_of = projects.decide(project(), 0, problem, NOW)
    broken = project().model_copy(update={"status": told_of})

    assert told(told_of.conditions)["Ready"] == ("False", "NetworkPolicyRefused")
    said = projects.not_ready(broken)
    assert said is not None
    assert "Project 'default' is not ready: networkpolicies is forbidden. Remedy: " in said
    assert projects.not_ready(project()) is None

    mended = broken.model_copy(update={"status": projects.decide(broken, 0, None, NOW)})
    assert projects.not_ready(mended) is None
