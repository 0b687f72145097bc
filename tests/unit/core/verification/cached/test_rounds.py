"""A gate is not run where its verdict on the same tree is known, and what counts is the same."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api.pod import CheckVerdict
from bernstein.checks.gates import GATES
from bernstein.core import labels
from bernstein.core.actions import KeepVerdicts, RunFence
from bernstein.core.gate_cache import GateCache, KeptVerdict, keeping
from bernstein.core.jobs import JobView
from bernstein.core.tasks.decide import decide
from tests.unit.core import objects
from tests.unit.core.objects import NOW, at, done, verification
from tests.unit.core.verification.cached.known import (
    NOTHING,
    OTHER,
    OURS,
    TOOLS,
    after,
    closed_project,
    kept,
    linted,
    look,
    read,
    results,
    runs,
)

READING = {"pipeline": [{"name": "lint", "enabled": False}]}
EXISTS = {"type": "path_exists", "path": "a"}
LINTED = after(linted())


# --- what is known is not run ---------------------------------------------------------------------


def test_the_same_tree_is_judged_without_a_job() -> None:
    ran = look(linted())

    known = look(cache=kept(ran))

    assert runs(known) == []
    assert known.status.verification is not None
    assert ran.status.verification is not None
    assert known.status.verification.passed is True
    assert known.status.verification.digest == ran.status.verification.digest


def test_another_task_with_the_same_tree_is_judged_without_a_job() -> None:
    other = done().model_copy(update={"session": "other-s1"})

    assert runs(look(cache=NOTHING, status=other, name="other")) == ["other-s1-lint-0"]
    assert runs(look(cache=LINTED, status=other, name="other")) == []


def test_the_verdict_says_that_it_was_known_and_what_it_is_of() -> None:
    lint = results(look(cache=LINTED))["lint"]

    assert (lint.verdict, lint.cached) == ("Passed", True)
    assert (lint.seconds, lint.image, lint.ended_at) == (7, TOOLS, at(7))


def test_one_that_was_run_does_not_say_so() -> None:
    assert results(look(linted()))["lint"].cached is None


def test_a_no_is_known_too_with_what_it_said() -> None:
    failed = after(linted(code=1, said="a.py:1 unused"), linted("work-s1-lint-0b", 0))

    decision = look(cache=failed)

    assert runs(decision) == []
    assert "a.py:1 unused" in (decision.status.feedback or "")


def test_gates_that_only_read_are_known_and_then_their_job_is_not_made() -> None:
    project = closed_project(gates=READING)
    cache = after(read("work-s1-inspect-0", CheckVerdict("pii_scan", "Passed")), project=project)

    decision = look(cache=cache, project=project)

    assert runs(decision) == []
    assert results(decision)["pii_scan"].cached is True


def test_completion_signals_are_asked_all_the_same() -> None:
    decision = look(cache=LINTED, completionSignals=[EXISTS])

    assert runs(decision) == ["work-s1-inspect-0"]


def test_of_checks_that_share_a_job_the_known_one_keeps_its_verdict() -> None:
    project = closed_project(gates=READING)
    said_no = CheckVerdict("pii_scan", "Failed", "Secret", "a.py:1")
    passed = after(read("work-s1-inspect-0", CheckVerdict("pii_scan", "Passed")), project=project)
    first = look(cache=passed, project=project, completionSignals=[EXISTS])

    both = read("work-s1-inspect-0", CheckVerdict("signal-0", "Passed"), said_no)
    more: Any = {"project": project, "completionSignals": [EXISTS]}
    second = look(both, cache=passed, status=first.status, **more)

    assert results(second)["pii_scan"].verdict == "Passed"
    assert kept(second, passed).verdicts == passed.verdicts


# --- a round stays what it was --------------------------------------------------------------------


def test_what_a_round_began_with_stays_when_the_cache_is_lost() -> None:
    first = look(cache=LINTED, completionSignals=[EXISTS])

    second = look(cache=NOTHING, status=first.status, completionSignals=[EXISTS])

    assert runs(second) == ["work-s1-inspect-0"]
    assert results(second)["lint"].cached is True


def test_a_job_at_work_is_not_overtaken_by_a_verdict_that_becomes_known() -> None:
    at_work = objects.job(
        "work-s1-lint-0", objects.pod(objects.ended("checkout"), objects.running("check"))
    )

    decision = look(at_work, cache=LINTED)

    assert decision.status.verification is not None
    assert decision.status.verification.passed is None
    assert decision.status.verification.checks == ()
    assert decision.actions == ()


def test_when_it_is_cancelled_the_name_of_a_job_that_was_not_needed_is_taken_too() -> None:
    """A process that did not know the verdict may have asked for it."""
    first = look(cache=LINTED, completionSignals=[EXISTS])
    subject = objects.task(
        status=first.status, completionSignals=[EXISTS], cancel={"reason": "not needed"}
    )

    actions = decide(objects.snapshot(subject), NOW).actions

    assert RunFence("work-s1-lint-0") in actions


def test_a_known_verdict_was_of_use_once_more() -> None:
    both = keeping(LINTED, [("0" * 40, KeptVerdict("Passed"))], (), NOW)

    decision = look(cache=both)

    assert [*kept(decision, both).verdicts][-1] == next(iter(LINTED.verdicts))
    assert [*both.verdicts][-1] == "0" * 40


def test_other_checks_begin_anew_with_what_is_known() -> None:
    """The Project has got one more gate: only that one is run."""
    before = done(verification=verification(policy="of before", checks=[objects.gate("lint")]))
    more = {"name": "types", "command": "mypy", "image": "toolchain:1"}
    project = closed_project(gates={"pipeline": [{"name": "pii_scan", "enabled": False}, more]})

    anew = look(cache=LINTED, status=before, project=project)
    decision = look(cache=LINTED, status=anew.status, project=project)

    assert runs(decision) == ["work-s1-types-1"]


# --- who asks for it to be run --------------------------------------------------------------------


def test_a_request_to_verify_runs_everything() -> None:
    wanted = {"id": "r-1", "verb": "Verify", "by": "ann", "reason": "the linter is mended"}
    verified = look(linted()).status
    asked = look(cache=LINTED, status=verified, requests=[wanted])

    decision = look(cache=LINTED, status=asked.status, requests=[wanted])

    assert runs(decision) == ["work-s1-lint-1"]


def test_what_a_request_found_takes_the_place_of_what_was_known() -> None:
    failed = after(linted(code=1), linted("work-s1-lint-0b", 0))
    asked = done(verification=verification(uncached=True))

    again = look(linted(), cache=failed, status=asked)

    assert results(look(cache=kept(again, failed)))["lint"].verdict == "Passed"


def test_nothing_is_known_or_kept_where_nobody_asks_for_it() -> None:
    decision = look(linted(), cache=None)

    assert [a for a in decision.actions if isinstance(a, KeepVerdicts)] == []
    assert runs(look(cache=None)) == ["work-s1-lint-0"]


# --- what is kept ---------------------------------------------------------------------------------

NOT_KEPT: dict[str, tuple[JobView, ...]] = {
    "a command that is missing": (linted(code=127),),
    "too slow": (linted(code=143, pod_is={"reason": "DeadlineExceeded"}),),
    "disrupted": (linted(code=143, pod_is={"disrupted": True}),),
    "evicted": (linted(code=137, pod_is={"reason": "Evicted"}),),
    "out of memory": (linted(code=137, reason="OOMKilled"),),
    "its base fails": (
        linted(code=1),
        objects.job("work-s1-lint-0b", objects.over(objects.ended("check", 1))),
    ),
}


@pytest.mark.parametrize("jobs", NOT_KEPT.values(), ids=NOT_KEPT)
def test_what_may_be_otherwise_the_next_time_is_not_kept(jobs: tuple[JobView, ...]) -> None:
    own = {"name": "lint", "command": "make lint"}
    project = closed_project(gates={"pipeline": [own, {"name": "pii_scan", "enabled": False}]})

    assert after(*jobs, project=project).verdicts == {}
    assert after(linted(), project=project).verdicts != {}


@pytest.mark.parametrize(
    ("gate", "job", "count"),
    [
        ("dep_audit", "work-s1-dep-audit-0u9", 0),
        ("benchmark", "work-s1-benchmark-0", 0),
        ("tests", "work-s1-tests-0", 1),
    ],
)
def test_a_gate_that_asks_somebody_or_measures_time_is_not_kept(
    gate: str, job: str, count: int
) -> None:
    own = {"name": gate, "condition": "always", "command": "make it"}
    project = closed_project(gates={"pipeline": [own], "extends": None})

    assert len(after(linted(job), project=project).verdicts) == count


@pytest.mark.parametrize(("gate", "count"), [("merge_conflict", 0), ("large_file", 1)])
def test_a_gate_that_reads_the_tip_of_a_branch_is_not_kept(gate: str, count: int) -> None:
    project = closed_project(gates={"pipeline": [{"name": gate}], "extends": None})
    passed = read("work-s1-inspect-0", CheckVerdict(gate, "Passed"))

    assert len(after(passed, project=project).verdicts) == count


@pytest.mark.parametrize(
    "network",
    [
        {"policy": "Unmanaged"},
        {"checks": [{"ports": [{"port": 443}]}]},
        {"git": [{"ports": [{"port": 443}]}], "proxy": {"url": "http://proxy.example.com:3128"}},
    ],
    ids=[
        "nobody limits it",
        "the Project lets checks reach something",
        "it may ask a proxy for anything",
    ],
)
def test_a_command_that_may_ask_somebody_is_not_kept(network: Any) -> None:
    project = closed_project(network=network)
    reading = closed_project(network=network, gates=READING)
    passed = read("work-s1-inspect-0", CheckVerdict("pii_scan", "Passed"))

    assert after(linted(), project=project).verdicts == {}
    assert runs(look(cache=LINTED, project=project)) == ["work-s1-lint-0"]
    assert len(after(passed, project=reading).verdicts) == 1


@pytest.mark.parametrize(
    ("gate", "count"),
    [({"name": "lint"}, 1), ({"name": "tests"}, 0), ({"name": "lint", "command": "npm audit"}, 0)],
    ids=["a tool", "the work's own code", "a command of the Project"],
)
def test_where_git_may_be_anywhere_only_what_asks_nobody_is_kept(gate: Any, count: int) -> None:
    project = closed_project(network={}, gates={"pipeline": [gate], "extends": None})

    assert len(after(linted(f"work-s1-{gate['name']}-0"), project=project).verdicts) == count


@pytest.mark.parametrize("gate", ["mutation_testing", "agent_test_mutation"])
def test_how_many_faults_there_was_time_for_is_not_kept(gate: str) -> None:
    assert [found.lasts for found in GATES if found.name == gate] == [False]


def test_work_whose_tree_nobody_knows_has_no_known_verdict() -> None:
    status = done(verification=verification(tree=""))

    assert after(linted(), status=status).verdicts == {}
    assert runs(look(cache=LINTED, status=status)) == ["work-s1-lint-0"]


# --- what the Jobs of a round were made with ------------------------------------------------------

GIT = {"to": [{"ipBlock": {"cidr": "192.0.2.7/32"}}]}
SILENT = {"pipeline": [{"name": "pii_scan", "enabled": False}]}
OTHERWISE: dict[str, Any] = {
    "memory": {"toolchain": {"image": "toolchain:1", "resources": {"memory": "2Gi"}}},
    "root": {"toolchain": {"image": "toolchain:1", "readOnlyRootFilesystem": False}},
    "runtime class": {"pods": {"runtimeClassName": "gvisor"}},
    "nodes": {"pods": {"nodeSelector": {"kubernetes.io/arch": "arm64"}}},
    "time": {"gates": SILENT | {"timeoutSeconds": 999}},
}


@pytest.mark.parametrize("other", OTHERWISE.values(), ids=OTHERWISE)
def test_what_a_job_has_found_is_not_kept_for_settings_that_it_was_not_made_with(
    other: Any,
) -> None:
    before, now = closed_project(), closed_project(**other)

    assert len(after(linted(), project=now, made=now).verdicts) == 1
    assert after(linted(), project=now, made=before).verdicts == {}
    assert after(linted(), project=before, made=now).verdicts == {}


def test_nor_what_it_has_found_while_it_could_ask_anybody() -> None:
    opened = closed_project(network={"git": [GIT], "checks": [{"ports": [{"port": 443}]}]})

    assert after(linted(), project=opened, made=closed_project()).verdicts == {}
    assert after(linted(), project=closed_project(), made=opened).verdicts == {}


def test_nor_is_what_checks_that_only_read_have_found() -> None:
    patient = closed_project(gates=READING | {"timeoutSeconds": 999})
    passed = read("work-s1-inspect-0", CheckVerdict("pii_scan", "Passed"))

    assert after(passed, project=patient, made=closed_project(gates=READING)).verdicts == {}
    assert len(after(passed, project=patient).verdicts) == 1


def test_the_base_that_it_was_compared_with_was_asked_with_the_same_settings() -> None:
    own = {"name": "lint", "command": "make lint"}
    gates = {"pipeline": [own, {"name": "pii_scan", "enabled": False}]}
    project = closed_project(gates=gates)
    of_base = linted("work-s1-lint-0b", labels={labels.MADE_WITH: "of before"})

    assert after(linted(code=1), linted("work-s1-lint-0b"), project=project).verdicts != {}
    assert after(linted(code=1), of_base, project=project).verdicts == {}


def test_what_has_nothing_to_do_with_a_verdict_may_change_meanwhile() -> None:
    wider = closed_project(limits={"maxAgents": 9})

    assert after(linted(), project=wider, made=closed_project()).verdicts == LINTED.verdicts


def test_a_cache_that_is_switched_on_in_the_middle_of_a_round_keeps_what_that_finds() -> None:
    off = closed_project(gates={"cacheEnabled": False})

    assert after(linted(), made=off).verdicts == LINTED.verdicts


def test_a_job_that_does_not_say_what_it_was_made_with_leaves_nothing() -> None:
    """An older release has made it."""
    assert after(linted(labels={labels.MADE_WITH: ""})) == NOTHING


# --- by which images ------------------------------------------------------------------------------


def test_an_image_that_nobody_has_seen_is_no_known_one() -> None:
    unseen = GateCache("bernstein:1", LINTED.verdicts, {"bernstein:1": OURS})

    assert runs(look(cache=unseen)) == ["work-s1-lint-0"]


@pytest.mark.parametrize("image", ["toolchain:1", "bernstein:1"])
def test_an_image_that_has_moved_is_another_one(image: str) -> None:
    moved = keeping(LINTED, (), [(image, OTHER)], NOW)

    assert runs(look(cache=moved)) == ["work-s1-lint-0"]


def test_one_that_is_named_by_its_digest_is_known_from_the_start() -> None:
    named = f"toolchain:1@{TOOLS}"
    project = closed_project(toolchain={"image": named})
    cache = after(linted(image=named), project=project)

    assert cache.images == {"bernstein:1": OURS}
    assert runs(look(cache=cache, project=project)) == []


def test_pods_that_do_not_tell_their_image_leave_nothing() -> None:
    silent = objects.job("work-s1-lint-0", objects.check_pod())

    assert after(silent) == NOTHING


def test_nothing_is_kept_of_two_pods_of_different_images() -> None:
    base = linted("work-s1-lint-0b", 0, tools=OTHER)
    own = {"name": "lint", "command": "make lint"}
    project = closed_project(gates={"pipeline": [own, {"name": "pii_scan", "enabled": False}]})

    same = after(linted(code=1), linted("work-s1-lint-0b"), project=project)
    mixed = after(linted(code=1), base, project=project)

    assert (len(same.verdicts), len(mixed.verdicts)) == (1, 0)


# --- what nobody has kept -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[" * 100_000,
        '{"verdict":"Bypassed"}',
        '{"verdict":"Errored","reason":"ToolMissing"}',
        '{"verdict":"Skipped","reason":"NotReached"}',
        '{"verdict":"Failed","reason":"OutOfMemory"}',
        '{"verdict":"Passed","image":"toolchain:1"}',
        '{"verdict":"Passed","ended_at":"yesterday"}',
        '{"verdict":"Passed","required":"no"}',
    ],
)
def test_what_the_operator_keeps_of_nothing_is_no_verdict(text: str) -> None:
    (key,) = LINTED.verdicts
    damaged = GateCache("bernstein:1", {key: text}, LINTED.images)

    assert runs(look(cache=damaged)) == ["work-s1-lint-0"]


def test_a_required_gate_stays_required_whatever_was_kept() -> None:
    (key,) = LINTED.verdicts
    told = keeping(LINTED, [(key, KeptVerdict("Failed", "ExitCode", required=False))], (), NOW)

    assert results(look(cache=told))["lint"].required is True
