"""What the ends of the pods of checks mean."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest

from bernstein.api.pod import EXCERPT_CHARACTERS, INSPECT, CheckVerdict, Failure, InspectResult
from bernstein.api.project import ProjectSpec
from bernstein.api.projects.gates import Gates
from bernstein.api.signals import Signal
from bernstein.api.verification import AbandonedCheck
from bernstein.checks.spec import CheckSpec, Subject
from bernstein.core.runs import LOST_SECONDS
from bernstein.core.verification import summary, verdicts
from bernstein.core.verification.executed import executed
from bernstein.core.verification.expected import required
from bernstein.core.verification.summary import feedback
from tests.unit.core import objects
from tests.unit.core.objects import (
    NOW,
    Object,
    check_pod,
    ended,
    failed,
    job,
    over,
    result_job,
    waiting,
)

NOTHING = Subject(any_changed=False, python_changed=False, tests_changed=False, deps_changed=False)
PARALLEL, IN_TURN = Gates(), Gates(execution="Sequential")
RUNS = CheckSpec("lint", "gate", "lint", True, command="ruff check .", timeout=120)
BASE_PASSES = {"lint.base": objects.checked("lint.base")}
"""The same check on the commit before the work."""


def spec(**gates: Any) -> ProjectSpec:
    return objects.project(gates=gates).spec


# --- the verdict of a command -------------------------------------------------------------------

VERDICTS: dict[str, tuple[Object, str, str]] = {
    "exit code 0": (check_pod(0), "Passed", ""),
    "exit code 1": (check_pod(1, said="boom"), "Failed", "ExitCode"),
    "a tool that is missing": (check_pod(127), "Errored", "ToolMissing"),
    "a command that cannot be started": (
        check_pod(128, reason="StartError"),
        "Errored",
        "ToolMissing",
    ),
    "own memory limit": (check_pod(137, reason="OOMKilled"), "Failed", "OutOfMemory"),
    "own disk limit": (
        over(ended("checkout"), ended("check", 137), reason="Evicted", message="too much"),
        "Failed",
        "ResourceLimit",
    ),
    "too slow": (
        over(ended("checkout"), ended("check", 137, after=120), reason="DeadlineExceeded"),
        "TimedOut",
        "Timeout",
    ),
    "too slow, and it traps TERM": (
        over(ended("checkout"), ended("check", 0, after=121), reason="DeadlineExceeded"),
        "TimedOut",
        "Timeout",
    ),
    "too slow, though the pod had time left": (
        over(ended("checkout"), ended("check", 0, after=122)),
        "TimedOut",
        "Timeout",
    ),
    "as slow as it may be": (over(ended("checkout"), ended("check", 0, after=121)), "Passed", ""),
    "its image took most of the time": (
        over(ended("checkout"), ended("check", 137, after=40), reason="DeadlineExceeded"),
        "Errored",
        "StartedLate",
    ),
    "the time was over before it began": (
        over(failed("checkout", "Terminated"), waiting("check"), reason="DeadlineExceeded"),
        "Errored",
        "Terminated",
    ),
    "disrupted": (
        over(ended("checkout"), ended("check", 143), disrupted=True),
        "Errored",
        "Disrupted",
    ),
    "disrupted, and it traps TERM": (
        over(ended("checkout"), ended("check", 0), disrupted=True),
        "Errored",
        "Disrupted",
    ),
    "evicted by pressure on the node": (
        over(ended("checkout"), ended("check", 137), disrupted=True, reason="Evicted"),
        "Errored",
        "Disrupted",
    ),
    "deleted": (over(ended("checkout"), ended("check", 0), deleting=True), "Errored", "Disrupted"),
    "disrupted, and its time was over": (
        over(
            ended("checkout"),
            ended("check", 143, after=121),
            disrupted=True,
            reason="DeadlineExceeded",
        ),
        "Errored",
        "Disrupted",
    ),
    "disrupted, and longer at work than it may be": (
        over(ended("checkout"), ended("check", 143, after=125), disrupted=True, deleting=True),
        "Errored",
        "Disrupted",
    ),
    "deleted after its time was over": (
        over(
            ended("checkout"),
            ended("check", 137, after=121),
            deleting=True,
            reason="DeadlineExceeded",
        ),
        "TimedOut",
        "Timeout",
    ),
    "deleted, and nobody knows how long it ran": (
        over(ended("checkout"), objects.running("check"), deleting=True, reason="DeadlineExceeded"),
        "Errored",
        "Disrupted",
    ),
    "the tree could not be fetched": (
        over(failed("checkout", "RepositoryUnreachable"), waiting("check")),
        "Errored",
        "RepositoryUnreachable",
    ),
    "the ref was moved": (
        over(failed("checkout", "RefMoved"), waiting("check")),
        "Errored",
        "RefMoved",
    ),
    "it never ran": (
        over(ended("checkout"), waiting("check"), phase="Failed"),
        "Errored",
        "NoVerdict",
    ),
}


def test_a_check_of_some_paths_is_skipped_where_checkout_finds_none_of_them_changed() -> None:
    pod = over(failed("checkout", "ConditionNotMet"), waiting("check"), phase="Failed")
    of_paths = replace(RUNS, paths=("web/**",))

    found = executed(of_paths, job("lint", pod), None, NOW)

    assert (found.verdict, found.reason) == ("Skipped", "ConditionNotMet")
    assert summary.passed([found])
    assert executed(RUNS, job("lint", pod), None, NOW).verdict == "Errored"


@pytest.mark.parametrize("fact", VERDICTS)
def test_the_kubelet_decides_about_a_command(fact: str) -> None:
    pod, verdict, reason = VERDICTS[fact]

    found = verdicts.complete(
        verdicts.so_far([RUNS], {"lint": job("lint", pod), **BASE_PASSES}, NOW, PARALLEL)
    )

    assert found is not None
    assert [(r.verdict, r.reason) for r in found] == [(verdict, reason)]


def test_a_pod_that_is_gone_gives_no_verdict() -> None:
    found = verdicts.complete(
        verdicts.so_far(
            [RUNS], {"lint": job("lint", failed="BackoffLimitExceeded", no_pod=True)}, NOW, PARALLEL
        )
    )

    assert found is not None
    assert (found[0].verdict, found[0].reason) == ("Errored", "PodLost")


def test_a_check_on_a_node_that_is_gone_gives_no_verdict() -> None:
    on_dead_node = objects.pod(objects.running("check"), deleting=-LOST_SECONDS - 1)

    found = verdicts.complete(
        verdicts.so_far([RUNS], {"lint": job("lint", on_dead_node)}, NOW, PARALLEL)
    )

    assert found is not None
    assert (found[0].verdict, found[0].reason) == ("Errored", "Disrupted")


def test_the_end_of_the_output_is_kept_and_harmless() -> None:
    pod = check_pod(1, said="\x1b[31mF401\x1b[0m @me")

    found = verdicts.complete(
        verdicts.so_far([RUNS], {"lint": job("lint", pod), **BASE_PASSES}, NOW, PARALLEL)
    )

    assert found is not None
    assert found[0].excerpt == "exit code 1\nF401 \uff20me"


TOKEN = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
KEY = "-----BEGIN PRIVATE KEY-----\nMIIEowIBAAKCAQEA\n-----END PRIVATE KEY-----"


def test_a_secret_that_a_check_printed_is_neither_shown_nor_told_to_the_next_agent() -> None:
    coloured = f"\x1b[1m{TOKEN[:9]}\x1b[0m{TOKEN[9:]}"
    said = f"{'x' * 900}{TOKEN} first\n{'y ' * 300}\nassert {coloured}\n{KEY}"

    found = verdicts.complete(
        verdicts.so_far(
            [RUNS], {"lint": job("lint", check_pod(1, said=said)), **BASE_PASSES}, NOW, PARALLEL
        )
    )

    assert found is not None
    assert found[0].excerpt.endswith("\nassert ***\n*** (a private key)")
    assert "***" in feedback(found)
    for told in (found[0].excerpt, feedback(found)):
        assert TOKEN[-9:] not in told
        assert "MIIE" not in told


@pytest.mark.parametrize("text", ["row {:02} " + "x" * 60 + "\n", "{:02}" + "x" * 70])
def test_of_long_output_the_end_is_kept_with_its_summary(text: str) -> None:
    said = "".join(text.format(n) for n in range(28)) + "3 failed, 25 passed"

    found = verdicts.complete(
        verdicts.so_far(
            [RUNS], {"lint": job("lint", check_pod(1, said=said)), **BASE_PASSES}, NOW, PARALLEL
        )
    )

    assert found is not None
    assert found[0].excerpt.startswith("exit code 1\n…\n")
    assert found[0].excerpt.endswith("3 failed, 25 passed")
    assert len(found[0].excerpt) <= EXCERPT_CHARACTERS


@pytest.mark.parametrize(
    "missing", [{}, {"lint": job("lint", objects.pod(objects.running("check")))}]
)
def test_there_is_no_judgement_before_every_job_has_ended(missing: dict[str, Any]) -> None:
    other = CheckSpec("own", "gate", "own", True, command="true")

    jobs = {"own": job("own", check_pod(1))} | missing
    assert verdicts.complete(verdicts.so_far([RUNS, other], jobs, NOW, PARALLEL)) is None


# --- in which order -----------------------------------------------------------------------------

WANTED = {name: name.upper() for name in ("signal-0", "signal-1", "lint", "tests", INSPECT)}
WORKS = objects.pod(objects.running("check"))


EXECUTING = [CheckSpec(n, "gate", n, True, command="true") for n in WANTED if n != INSPECT]


def started(
    gates: Gates, *done: str, running: tuple[str, ...] = (), now: datetime = NOW
) -> list[str]:
    """What is started beside these."""
    jobs = {name: job(name, check_pod()) for name in done}
    jobs |= {name: job(name, WORKS) for name in running}
    return [name.lower() for name in verdicts.to_start(WANTED, jobs, now, gates)]


def test_all_jobs_are_started_together_up_to_the_projects_limit() -> None:
    few = Gates(max_parallel=2)

    assert started(PARALLEL) == list(WANTED)
    assert started(few) == ["signal-0", "signal-1"]
    assert started(few, "signal-1", running=("signal-0",)) == ["lint"]
    assert started(few, running=("signal-0", "signal-1")) == []
    assert started(Gates(max_parallel=1), "signal-0", running=("signal-1", "lint")) == []


@pytest.mark.parametrize(
    ("gates", "seconds"),
    [
        (PARALLEL, 2 * (1200 + 300)),
        (Gates(max_parallel=2), (2 * (1200 + 300) + 2 * 2 * (100 + 300)) // 2 + 2 * (1200 + 300)),
        (IN_TURN, 2 * (1200 + 300) + 2 * 2 * (100 + 300)),
    ],
    ids=["together", "two at a time", "in turn"],
)
def test_a_round_takes_as_long_as_its_checks_may_with_their_pods_and_on_the_base(
    gates: Gates, seconds: int
) -> None:
    quick = [CheckSpec(name, "gate", name, True, "true", timeout=100) for name in ("a", "b")]
    slow = CheckSpec("slow", "gate", "slow", True, command="true", timeout=1200)
    off = replace(slow, name="off", timeout=9999, skipped="ConditionNotMet")

    assert verdicts.seconds_of_round([*quick, slow, off], gates) == seconds
    assert verdicts.seconds_of_round([], gates) == 0


def test_what_compares_may_do_so_twice() -> None:
    both = CheckSpec("both", "gate", "both", True, "true", timeout=100, against_base=True)

    alone, excused = ([each] for each in (both, replace(both, excused=True)))

    assert verdicts.seconds_of_round(alone, Gates()) == 2 * (100 + 300)
    assert verdicts.seconds_of_round(excused, Gates()) == 2 * (2 * 100 + 300)


def test_in_turn_the_janitors_jobs_come_first_and_gates_one_by_one() -> None:
    janitors = ("signal-0", "signal-1", INSPECT)

    assert started(IN_TURN) == list(janitors)
    assert started(IN_TURN, "signal-0", "signal-1", running=(INSPECT,)) == []
    assert started(IN_TURN, *janitors) == ["lint"]
    assert started(IN_TURN, *janitors, running=("lint",)) == []
    assert started(IN_TURN, *janitors, "lint") == ["tests"]
    assert started(IN_TURN, *janitors, "lint", "tests") == []


HURRIED = (AbandonedCheck(check="lint", reason="Timeout", message="not done after 120 s"),)


NAMED = f"registry.example/tools@sha256:{'a' * 64}"


@pytest.mark.parametrize(
    ("image", "digest"),
    [
        (NAMED, f"sha256:{'a' * 64}"),
        (f"docker-pullable://{NAMED}", f"sha256:{'a' * 64}"),
        (f"sha256:{'b' * 64}", f"sha256:{'b' * 64}"),
        (f"{NAMED}0", None),
        (f"x{NAMED[-71:]}", None),
        ("registry.example/tools:1", None),
        ("", None),
    ],
)
def test_a_verdict_names_the_image_that_the_command_ran_in(image: str, digest: str | None) -> None:
    end = ended("check") | {"imageID": image}

    found = executed(RUNS, job("lint", over(ended("checkout"), end)), None, NOW)

    assert found.image == digest


@pytest.mark.parametrize(
    ("seconds", "drained", "verdict"),
    [
        (121, False, ("TimedOut", "Timeout")),
        (120, False, ("TimedOut", "Timeout")),
        (80, False, ("Errored", "Disrupted")),
        (121, True, ("Errored", "Disrupted")),
    ],
)
def test_a_check_that_was_ended_for_its_slowness_is_judged_by_the_nodes_own_clock(
    seconds: float, drained: bool, verdict: tuple[str, str]
) -> None:
    """The operator's clock may be ahead of the node's, or have seen the start before a pause."""
    late = ended("check", 143, after=seconds)
    slow = over(ended("checkout"), late, deleting=True, disrupted=drained)

    found = verdicts.complete(
        verdicts.so_far([RUNS], {"lint": job("lint", slow), **BASE_PASSES}, NOW, PARALLEL, HURRIED)
    )

    assert found is not None
    assert (found[0].verdict, found[0].reason) == verdict


@pytest.mark.parametrize(
    ("required", "code", "follows"),
    [(True, 0, None), (True, 1, "NotReached"), (True, 127, "NotReached"), (False, 1, None)],
)
def test_in_turn_the_first_required_check_that_does_not_pass_is_the_last(
    required: bool, code: int, follows: str | None
) -> None:
    first = replace(RUNS, required=required)
    then = CheckSpec("own", "gate", "own", True, command="true")
    jobs = {"lint": job("lint", check_pod(code)), **BASE_PASSES}

    found = verdicts.complete(verdicts.so_far([first, then], jobs, NOW, IN_TURN))

    assert verdicts.complete(verdicts.so_far([first, then], jobs, NOW, PARALLEL)) is None
    if follows is None:
        assert found is None
    else:
        assert found is not None
        assert (found[1].verdict, found[1].reason) == ("Skipped", follows)
        assert not summary.passed(found)


# --- the verdicts of what only reads ------------------------------------------------------------


def inspected(job_: Any) -> list[tuple[str, str, str]] | None:
    found = required.required_checks([Signal(type="path_exists", path="a")], spec(), NOTHING)
    lint = job("lint", check_pod())
    jobs = {"lint": lint, INSPECT: job_} if job_ else {"lint": lint}
    results = verdicts.complete(verdicts.so_far(found, jobs, NOW, PARALLEL))
    if results is None:
        return None
    return [(r.name, r.verdict, r.reason) for r in results]


def test_the_inspect_job_speaks_for_each_of_its_checks() -> None:
    said = InspectResult((CheckVerdict("signal-0", "Failed", "NotFound", "no a"),))

    assert inspected(result_job("inspect", INSPECT, said)) == [
        ("signal-0", "Failed", "NotFound"),
        ("lint", "Passed", ""),
        ("pii_scan", "Skipped", "ConditionNotMet"),
    ]
    assert inspected(None) is None


@pytest.mark.parametrize(
    ("pod", "reason"),
    [
        (over(ended(INSPECT, said=InspectResult(()))), "NoVerdict"),
        (over(ended(INSPECT, said="rubbish")), "NoVerdict"),
        (over(ended(INSPECT, said="")), "NoVerdict"),
        (over(failed("checkout", "RefMoved"), waiting(INSPECT)), "RefMoved"),
        (over(ended(INSPECT, 1, said=Failure("InternalError", "x"))), "InfrastructureError"),
        (over(ended(INSPECT, 0), reason="Evicted"), "Evicted"),
        (None, "PodLost"),
    ],
)
def test_a_check_without_a_verdict_has_errored(pod: Object | None, reason: str) -> None:
    found = inspected(job("inspect", pod, complete=True, no_pod=True))

    assert found is not None
    assert found[0] == ("signal-0", "Errored", reason)
