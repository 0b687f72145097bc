"""Checks that only read: so few share a Job that it has room for questions and verdicts."""

from __future__ import annotations

import pytest

from bernstein.api.delivery import Delivery
from bernstein.api.encoding import dump, load
from bernstein.api.pod import (
    INSPECT,
    TERMINATION_LIMIT,
    CheckoutConfig,
    CheckVerdict,
    InspectConfig,
    InspectResult,
)
from bernstein.api.projects.gates import Gates, GateSettings
from bernstein.api.signals import Signal
from bernstein.api.verification import MOST_CHECKS, CheckResult, Verification
from bernstein.checks import gates
from bernstein.checks.spec import CheckSpec, Subject
from bernstein.controllers import job_actions
from bernstein.core.actions import RunCheck, RunInspect, RunJudge
from bernstein.core.jobs import JobView
from bernstein.core.plans.size import MOST_SIGNALS
from bernstein.core.tasks.decide import decide
from bernstein.core.verification import verdicts
from bernstein.core.verification.expected import required
from bernstein.core.verification.inspections import (
    inspections,
    is_inspection,
    is_judge,
    questions,
    shared,
)
from bernstein.pods.programs import inspect
from tests.unit.controllers.jobs import built
from tests.unit.core import objects
from tests.unit.core.delivery import plans
from tests.unit.core.objects import NOW, failed, job, over, result_job, sha
from tests.unit.core.verification.asked_models import project

CHANGED = Subject(any_changed=True, python_changed=True, tests_changed=True, deps_changed=True)
EMOJI = "\N{VIOLIN}"
LARGEST = {"type": "file_contains", "path": EMOJI * 256, "contains": EMOJI * 1024}
LONGEST_WORD = 128 * 1024
"""Bytes, as Linux takes them, with the zero at its end."""


def exist(count: int) -> list[Signal]:
    return [Signal(type="path_exists", path=f"src/{n}.py") for n in range(count)]


def asked(signals: list[Signal]) -> tuple[CheckSpec, ...]:
    return required.required_checks(signals, objects.project(gates={}).spec, CHANGED)


def of_largest(count: int) -> list[Signal]:
    return [
        Signal.model_validate({**LARGEST, "contains": EMOJI * 1023 + str(n % 10)})
        for n in range(count)
    ]


def said(share: tuple[CheckSpec, ...], verdict: str = "Passed", excerpt: str = "") -> InspectResult:
    return InspectResult(tuple(CheckVerdict(c.name, verdict, excerpt=excerpt) for c in share))


def test_those_of_a_task_share_one_job() -> None:
    checks = asked(exist(20))

    assert inspections(checks) == {INSPECT: tuple(required.reading(checks))}
    assert inspections(asked([])) == {INSPECT: tuple(required.reading(asked([])))}


def test_those_of_a_plan_are_shared_out_each_once_in_order() -> None:
    checks = asked(exist(100))

    shares = inspections(checks)

    assert [c for share in shares.values() for c in share] == required.reading(checks)
    assert list(shares) == ["inspect", "inspect-2", "inspect-3", "inspect-4", "inspect-5"]
    assert all(map(is_inspection, shares))
    assert not any(map(is_inspection, ("signal-0", "lint", "inspect_2", "inspector")))


@pytest.mark.parametrize("count", [20, MOST_SIGNALS])
def test_the_largest_questions_fit_the_commands_of_their_containers(count: int) -> None:
    for number, share in enumerate(inspections(asked(of_largest(count))).values()):
        run = RunInspect(f"i{number}", share, "refs/x", sha(1), sha(2), "refs/heads/main")
        made = job_actions.build(run, built.FULL, "team", built.TASK, built.FULL_SETTINGS)
        pod = made["spec"]["template"]["spec"]
        for container in (*pod["initContainers"], *pod["containers"]):
            text = built.configuration(container)
            assert len(f"{text}\0".encode()) <= LONGEST_WORD
            if container["name"] == INSPECT:
                assert load(InspectConfig, text).checks == tuple(c.reads for c in share)


def test_only_who_asks_for_it_fetches_the_pinned_commit() -> None:
    project = objects.project(gates={"pipeline": [{"name": "pii_scan"}, {"name": "dlp_scan"}]})
    pii, dlp = required.reading(required.required_checks((), project.spec, CHANGED))

    for checks, pinned in (((pii,), None), ((pii, dlp), sha(3))):
        run = RunInspect("i", checks, "refs/x", sha(1), sha(2), "refs/heads/main", sha(3))
        made = job_actions.build(run, built.PLAIN, "team", built.TASK, built.PLAIN_SETTINGS)
        pod = made["spec"]["template"]["spec"]
        texts = [built.configuration(c) for c in (*pod["initContainers"], *pod["containers"])]
        assert load(CheckoutConfig, texts[0]).also == (sha(2), *((pinned,) if pinned else ()))
        assert load(InspectConfig, texts[1]).pinned == pinned


def test_what_only_reads_is_told_what_the_plan_started_from() -> None:
    for base, pinned in ((objects.BASE, None), (objects.TIP, objects.BASE)):
        status = objects.done(verification=objects.verification(base=base))
        project = objects.project(gates={"pipeline": [{"name": "dlp_scan"}]})
        decision = decide(objects.snapshot(objects.task(status=status), project=project), NOW)
        (run,) = (action for action in decision.actions if isinstance(action, RunInspect))
        assert (run.base, run.pinned_sha) == (base, pinned)


def test_the_longest_verdicts_fit_one_termination_message_with_some_words_each() -> None:
    for share in inspections(asked(exist(MOST_SIGNALS))).values():
        longest = tuple(
            CheckVerdict(c.name, "Errored", "RepositoryUnreachable", EMOJI * 1500) for c in share
        )
        fitted = inspect.fit(InspectResult(longest), TERMINATION_LIMIT)

        assert len(dump(fitted)) <= TERMINATION_LIMIT
        assert all(v.excerpt for v in fitted.verdicts)


def test_a_verdict_is_read_from_the_job_that_looked() -> None:
    checks = asked(exist(40))
    reading = required.reading(checks)
    first, second = inspections(checks).values()
    executed = {c.name: objects.checked(c.name) for c in required.executing(checks)}
    jobs: dict[str, JobView] = {
        **executed,
        "inspect": result_job("i1", INSPECT, said(first)),
        "inspect-2": result_job("i2", INSPECT, said(second, "Failed", "not there")),
    }

    results = verdicts.complete(verdicts.so_far(checks, jobs, NOW, Gates()))

    assert results is not None
    found = {r.name: r.verdict for r in results}
    assert {found[c.name] for c in first} == {"Passed"}
    assert {found[c.name] for c in second} == {"Failed"}
    assert len(first) + len(second) == len(reading)
    for name in ("inspect", "inspect-2"):
        fewer = {called: each for called, each in jobs.items() if called != name}
        assert verdicts.complete(verdicts.so_far(checks, fewer, NOW, Gates())) is None


def test_one_job_that_failed_says_nothing_about_what_another_one_read() -> None:
    checks = asked(exist(40))
    first, second = inspections(checks).values()
    jobs = {c.name: objects.checked(c.name) for c in required.executing(checks)}
    jobs["inspect"] = result_job("i1", INSPECT, said(first))
    broken = over(failed(INSPECT, "RepositoryUnreachable", "no route"))
    jobs["inspect-2"] = job("i2", broken)

    results = verdicts.complete(verdicts.so_far(checks, jobs, NOW, Gates()))

    assert results is not None
    errored = [r.name for r in results if r.verdict == "Errored"]
    assert errored == [c.name for c in second]


def test_all_checks_that_a_plan_can_ask_for_have_room_in_its_status() -> None:
    listed = GateSettings.model_fields, Gates.model_fields["pipeline"].metadata
    most_listed = max(m.max_length for m in listed[1] if hasattr(m, "max_length"))

    assert MOST_SIGNALS + most_listed + len(gates.names()) <= MOST_CHECKS


@pytest.mark.parametrize("character", ["x", EMOJI])
def test_what_checks_say_together_is_bounded_in_bytes(character: str) -> None:
    """Those that say something share it: one alone may say as much as an excerpt holds."""
    alone, many = all_failing(1, character), all_failing(200, character)

    assert [len(r.excerpt) > 1300 for r in alone] == [True]
    assert all(r.excerpt.startswith("exit code 1") for r in many)
    assert sum(len(r.excerpt.encode()) for r in many) <= verdicts.EXCERPT_BYTES


def all_failing(count: int, character: str) -> tuple[CheckResult, ...]:
    """Verdicts of so many commands that print as much as is kept, all of this character."""
    signals = [Signal(type="test_passes", command=f"test {n}") for n in range(count)]
    off = objects.project(gates={"enabled": False}).spec
    checks = required.required_checks(signals, off, CHANGED)
    jobs = {c.name: objects.checked(c.name, 1, said=character * 1500) for c in checks}
    results = verdicts.complete(verdicts.so_far(checks, jobs, NOW, Gates()))
    assert results is not None
    return results


def test_a_plan_of_many_signals_is_judged_and_its_status_is_small() -> None:
    signals = [s.dump() for s in exist(MOST_SIGNALS)]
    idle = plans.TASKS[0].status.model_copy(update={"delivery": Delivery(state="NoChange")})
    more = [
        objects.task(f"more{n}", status=idle, completionSignals=signals[n * 20 :][:20])
        for n in range(MOST_SIGNALS // 20)
    ]
    tasks = (*plans.TASKS, *more)
    status = plans.look(plans.step("Preparing"), plans.prepared(), tasks=tasks).status
    done: dict[str, JobView] = {}
    for _ in range(100):
        decision = plans.look(status, *done.values(), tasks=tasks)
        status = decision.status
        if status.verification is not None and status.verification.passed is not None:
            break
        for run in decision.actions:
            if isinstance(run, RunInspect):
                no = said(run.checks, "Failed", EMOJI * 60)
                done[run.job] = result_job(run.job, INSPECT, no)
            elif isinstance(run, RunCheck):
                done[run.job] = objects.checked(run.job, 1, said="x" * 1500)

    judged = status.verification
    assert judged is not None
    assert judged.passed is False
    assert len(judged.checks) == MOST_SIGNALS + 1
    assert Verification.model_validate_json(judged.model_dump_json()) == judged
    assert len(judged.model_dump_json()) < 150_000


# --- questions to models -------------------------------------------------------------------------


def reviews(count: int, criteria: str = "It is tested.") -> list[Signal]:
    return [Signal(type="llm_review", criteria=criteria) for _ in range(count)]


def asked_of_models(signals: list[Signal]) -> tuple[CheckSpec, ...]:
    return required.required_checks(signals, project().spec, CHANGED)


def test_all_that_a_task_asks_models_is_one_job() -> None:
    checks = asked_of_models([*reviews(20), *exist(1)])

    assert questions(checks) == {"judge-1": tuple(required.asking(checks))}
    assert set(shared(checks)) == {"inspect", "judge-1"}
    assert is_judge("judge-1")
    assert not any(map(is_judge, ("judge", "judge_1", "inspect-2", "signal-0")))


def test_the_longest_questions_fit_the_commands_of_their_containers() -> None:
    checks = asked_of_models(reviews(20, EMOJI * 1024))
    task = objects.task(title=EMOJI * 300, description=EMOJI * 8192)

    shares = questions(checks)

    assert [c for share in shares.values() for c in share] == required.asking(checks)
    for called, share in shares.items():
        run = RunJudge(
            job=f"work-s1-{called}-0",
            called=called,
            checks=share,
            ref=built.REF,
            sha=objects.HEAD,
            base=objects.BASE,
            title=task.spec.title,
            description=task.spec.description or "",
        )
        made = job_actions.build(run, project(), "team", built.TASK, built.PLAIN_SETTINGS)
        (judge,) = made["spec"]["template"]["spec"]["containers"]
        assert max(len(word.encode()) for word in judge["command"]) < LONGEST_WORD - 1


def test_without_a_model_there_is_no_job() -> None:
    assert questions(asked(reviews(3))) == {}
