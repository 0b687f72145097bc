"""Repositories in JavaScript and Go are judged in real pods by commands of their Project."""

from __future__ import annotations

import pytest

from bernstein.checks import gates
from tests.e2e.conftest import MakeWorld, Object, World
from tests.e2e.gates import repositories
from tests.e2e.gates.groups import begun
from tests.e2e.gates.repositories import IMAGE, LANGUAGES, Repository
from tests.e2e.gates.test_every_gate import ENOUGH, verdicts

pytestmark = pytest.mark.verification


def begin(world: MakeWorld, repository: Repository) -> World:
    """A Task whose work every gate passes, and one whose work none does."""
    works = {"good": {**repository.good}, "bad": {**repository.bad}}

    def change(spec: Object) -> None:
        spec["toolchain"] = {"image": IMAGE, "resources": {"cpu": "500m", "memory": "768Mi"}}
        pipeline: list[Object] = [
            # Of their own accord some look at changes of Python alone.
            {"name": name, "condition": "any_changed"}
            | ({"required": True} if name not in gates.that_advise() else {})
            | ({"command": example.command} if example.command else {})
            for name, example in repository.gates.items()
        ]
        if "lint_suppression" not in repository.gates:  # else it comes along with the linter
            pipeline.append({"name": "lint_suppression", "enabled": False})
        spec["gates"] = {"pipeline": pipeline, "timeoutSeconds": ENOUGH}

    here = begun(world, repository.before, works, change)
    for title in works:
        here.task(title, maxRetries=0)
    return here


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_same_gates_accept_and_reject_in_other_languages_by_commands_of_the_project(
    language: str, world: MakeWorld
) -> None:
    repository = repositories.of(language)
    here = begin(world, repository)

    rejected = here.stalled("task", "bad", "GateFailed", 2 * ENOUGH)
    accepted = here.closed("good", 2 * ENOUGH)
    assert verdicts(accepted) == dict.fromkeys(repository.gates, "Passed")
    assert verdicts(rejected) == dict.fromkeys(repository.gates, "Failed")
    for check in rejected["status"]["verification"]["checks"]:
        assert repository.gates[check["name"]].told in check["excerpt"], check
    assert {*repository.good} <= {*here.files()}
