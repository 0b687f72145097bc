"""Repositories in JavaScript and Go are judged in real pods by commands of their Project."""

from __future__ import annotations

import pytest

from tests.e2e.conftest import MakeWorld, Object, World, does, push
from tests.e2e.gates.groups import steps
from tests.e2e.gates.repositories import REPOSITORIES, Repository
from tests.e2e.gates.test_every_gate import ENOUGH, verdicts

pytestmark = pytest.mark.verification

IMAGE = "bernstein-toolchain-node-go:dev"


def begin(world: MakeWorld, repository: Repository) -> World:
    """A Task whose work every gate passes, and one whose work none does."""
    bad = {path: text for change in repository.bad.values() for path, text in change.items()}
    agents = [
        does("good", {"steps": steps({**repository.good}), "text": "done"}),
        does("bad", {"steps": steps(bad), "text": "done"}),
    ]
    off = {"name": "lint_suppression", "enabled": False}  # else it comes along with the linter

    def change(spec: Object) -> None:
        spec["toolchain"] = {"image": IMAGE, "resources": {"cpu": "1", "memory": "768Mi"}}
        gates = [
            # Of their own accord some look at changes of Python alone.
            {"name": gate, "command": command, "image": IMAGE, "condition": "any_changed"}
            for gate, command in repository.commands.items()
        ]
        spec["gates"] = {"pipeline": [*gates, off]}

    here = world(agents, change)
    for path, content in repository.before.items():
        push(here, path, content)
    here.task("good", maxRetries=0)
    here.task("bad", maxRetries=0)
    return here


def test_the_same_gates_accept_and_reject_in_other_languages_by_commands_of_the_project(
    world: MakeWorld,
) -> None:
    begun = {language: begin(world, each) for language, each in REPOSITORIES.items()}

    for language, here in begun.items():
        repository = REPOSITORIES[language]
        accepted = here.closed("good", ENOUGH)
        rejected = here.stalled("task", "bad", "GateFailed", ENOUGH)
        assert verdicts(accepted) == dict.fromkeys(repository.commands, "Passed")
        assert verdicts(rejected) == dict.fromkeys(repository.commands, "Failed")
        for check in rejected["status"]["verification"]["checks"]:
            assert repository.told[check["name"]] in check["excerpt"], check
        assert {*repository.good} <= {*here.files()}
