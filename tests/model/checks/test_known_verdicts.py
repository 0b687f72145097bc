"""What gates have said of a tree before: whoever leaves that tree again is judged without a Job."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api import task
from bernstein.api.verification import Verification
from bernstein.controllers.jobs import check
from bernstein.core.verification import cached
from bernstein.resources import TASKS
from tests.model.checks.known import GIT, KNOWN
from tests.model.scenario import generate
from tests.model.stories import story, with_events
from tests.model.world import World, lived

AGAIN = "an-agent-leaves-the-same-tree-again"
BYPASSED = "a-gate-is-bypassed-whose-no-was-known"
OTHER = "an-agent-leaves-another-tree"


def judged(world: World) -> Verification:
    (found,) = (task.parse(obj) for obj in world.store.all(TASKS))
    assert found.status.verification is not None
    return found.status.verification


def known(world: World) -> dict[str, bool]:
    """Whether the last verdict of each gate was known."""
    return {result.name: bool(result.cached) for result in judged(world).checks}


def ran(world: World, gate: str) -> list[str]:
    return [run.job for run in world.kubelets.runs.values() if f"-{gate}-" in run.job]


def test_a_gate_is_not_run_for_a_tree_that_it_has_judged() -> None:
    world, outcome = lived(story(AGAIN))

    assert outcome.violations == ()
    assert known(world) == {"own": True}
    assert ran(world, "own") == ["web-s1-own-0", "web-s1-own-0b"]


def test_it_is_for_another_tree() -> None:
    world, outcome = lived(story(OTHER))

    assert outcome.violations == ()
    assert known(world) == {"own": False}
    assert ran(world, "own") == ["web-s1-own-0", "web-s1-own-0b", "web-s2-own-0"]


def test_a_person_may_let_work_go_on_without_a_gate_whose_no_was_known() -> None:
    world, outcome = lived(story(BYPASSED))

    (own,) = judged(world).checks
    assert outcome.violations == ()
    assert own.bypass is not None
    assert (own.verdict, own.bypass.verdict, own.cached) == ("Bypassed", "Failed", True)


LATER = {"at": 22.0, "do": "project", "what": "memory", "pick": 0.9}
"""While the gate judges the first attempt."""


def test_what_was_found_while_its_settings_were_changed_is_not_known_for_the_new_ones() -> None:
    world, outcome = lived(with_events(story(AGAIN), LATER))

    assert outcome.violations == ()
    assert known(world) == {"own": False}


def test_that_it_is_not_rests_on_what_its_job_says(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (cached, check):
        monkeypatch.setattr(module, "made_with", lambda *_: "anything")

    world, _ = lived(with_events(story(AGAIN), LATER))

    assert known(world) == {"own": True}


@pytest.mark.parametrize("crash", [{"after": False}, {"after": True}], ids=["before", "after"])
def test_the_next_process_may_know_it_or_run_it_again_and_says_the_same(crash: Any) -> None:
    dies = [{"at": 20.0 + 2 * n, "do": "crash at write", "replica": 0} | crash for n in range(4)]

    world, outcome = lived(with_events(story(AGAIN), *dies))

    assert outcome.violations == ()
    assert [(result.name, result.verdict) for result in judged(world).checks] == [
        ("own", "Failed" if known(world)["own"] else "Passed")
    ]


def test_half_of_the_seeds_keep_verdicts_of_commands_too() -> None:
    projects = [generate(seed).project for seed in range(300)]
    kept = [p for p in projects if p["gates"]["cacheEnabled"]]

    assert abs(len(kept) / len(projects) - KNOWN) < 0.1
    assert {str(p["network"]) for p in kept} == {str({"git": [GIT]})}


def test_seeds_of_the_sample_go_through_verdicts_that_are_known() -> None:
    """Two of those that do; others take their place where the generator becomes another one."""
    for seed, rates in ((18, "calm"), (31, "calm")):
        world, outcome = lived(generate(seed, rates))

        said = [change.object.get("status", {}) for change in world.store.log[TASKS]]
        checks = [c for s in said for c in s.get("verification", {}).get("checks", ())]
        assert outcome.violations == ()
        assert [c for c in checks if c.get("cached")] != []
