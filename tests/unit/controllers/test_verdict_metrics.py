"""What is counted of verdicts and deliveries, and that a write counts once."""

from __future__ import annotations

from typing import Any

from bernstein.api.delivery import Delivery, Feedback
from bernstein.api.plan import PlanStatus
from bernstein.api.projects.workplace import Workplace
from bernstein.api.task import TaskStatus
from bernstein.api.verification import Verification
from bernstein.controllers.metrics import verdicts
from bernstein.observe.metrics import Metrics
from tests.unit.core import objects
from tests.unit.core.delivery.proposed.proposals import project as on_a_forge
from tests.unit.core.objects import gate

SIGNALS = objects.task(
    completionSignals=[
        {"type": "path_exists", "path": "a"},
        {"type": "test_passes", "command": "make test"},
    ]
).spec.completion_signals


def judged(*checks: dict[str, Any], passed: bool = True) -> Verification:
    return objects.verification(checks=list(checks), passed=passed)


def counted(metrics: Metrics) -> dict[str, float]:
    """Every counter of verdicts and deliveries that is not zero, by the values of its labels."""
    return {
        " ".join(sample.labels.values()): sample.value
        for family in metrics.registry.collect()
        for sample in family.samples
        if sample.name.startswith("bernstein_") and sample.name != "bernstein_build_info"
    }


def of_a_task(old: TaskStatus, new: TaskStatus, **more: Any) -> dict[str, float]:
    metrics = Metrics(process=False)
    known: dict[str, Any] = {"attempt": "first", "signals": lambda: SIGNALS}
    known |= {"project": lambda: None, **more}
    verdicts.count(metrics, "team", "Task", old, new, **known)
    verdicts.count_answers(metrics, "team", "Task", old, new)
    return counted(metrics)


def of_a_plan(
    old: PlanStatus, new: PlanStatus, project: Workplace | None = None
) -> dict[str, float]:
    metrics = Metrics(process=False)
    known: dict[str, Any] = {"attempt": "plan", "signals": lambda: SIGNALS}
    verdicts.count(metrics, "team", "Plan", old, new, project=lambda: project, **known)
    verdicts.count_answers(metrics, "team", "Plan", old, new)
    return counted(metrics)


def test_verdicts_of_a_task_are_counted_by_gate_and_by_type_of_signal() -> None:
    signal = {"name": "signal-1", "kind": "signal", "verdict": "Failed"}
    new = TaskStatus(verification=judged(gate("lint"), signal, passed=False))

    told = of_a_task(TaskStatus(), new)

    assert told == {"team lint Passed": 1, "team test_passes Failed": 1, "team first rejected": 1}


def test_a_plan_as_a_whole_is_no_first_attempt() -> None:
    new = PlanStatus(verification=judged(gate("lint")))

    assert of_a_plan(PlanStatus(), new) == {"team lint Passed": 1, "team plan passed": 1}


def test_verdicts_that_stood_before_are_not_counted_again() -> None:
    same = judged(gate("lint"))

    assert of_a_plan(PlanStatus(verification=same), PlanStatus(verification=same)) == {}
    assert of_a_task(TaskStatus(verification=same), TaskStatus(verification=same)) == {}


def test_a_verdict_that_stood_while_another_check_was_run_again_is_counted_once() -> None:
    signal = {"name": "signal-1", "kind": "signal", "verdict": "Passed"}
    errored = [signal, gate("lint", "Errored")]
    again = [{"check": "lint", "round": 1}]
    first = objects.verification(checks=errored, again=again, since=0, round=1)
    ended = judged(signal, gate("lint"))

    assert of_a_task(TaskStatus(), TaskStatus(verification=first)) == {
        "team lint Errored": 1,
        "team test_passes Passed": 1,
    }
    assert of_a_task(TaskStatus(verification=first), TaskStatus(verification=ended)) == {
        "team lint Passed": 1,
        "team first passed": 1,
    }


def test_a_verdict_that_was_known_is_counted_as_one_and_as_known_once() -> None:
    signal = {"name": "signal-1", "kind": "signal", "verdict": "Passed"}
    known = gate("lint") | {"cached": True}
    begun = objects.verification(checks=[known], again=[], since=0)
    ended = judged(known, signal).model_copy(update={"again": (), "since": 0})

    assert of_a_task(TaskStatus(), TaskStatus(verification=begun)) == {
        "team lint Passed": 1,
        "team lint": 1,
    }
    assert of_a_task(TaskStatus(verification=begun), TaskStatus(verification=ended)) == {
        "team test_passes Passed": 1,
        "team first passed": 1,
    }


def test_a_no_that_was_known_is_not_known_again_when_a_person_lets_it_go_on() -> None:
    let_on = {"by": "ann", "reason": "wrong here", "approval": "lint-of-work"}
    let_on |= {"verdict": "Failed", "time": "2026-01-01T00:00:00Z"}
    before = judged(gate("lint", "Failed") | {"cached": True}, passed=False)
    after = judged(gate("lint", "Bypassed") | {"cached": True, "bypass": let_on})

    assert of_a_task(TaskStatus(verification=before), TaskStatus(verification=after)) == {
        "team lint Bypassed": 1,
        "team first passed": 1,
    }


def test_a_delivery_is_counted_when_it_ends_by_what_was_delivered() -> None:
    merging, merged = Delivery(state="Pending"), Delivery(state="Merged")

    task = of_a_task(TaskStatus(delivery=merging), TaskStatus(delivery=merged))
    plan = of_a_plan(PlanStatus(delivery=merging), PlanStatus(delivery=merged))

    assert (task, plan) == (
        {"team Task direct none Merged": 1},
        {"team Plan direct none Merged": 1},
    )

    assert of_a_plan(PlanStatus(delivery=merged), PlanStatus(delivery=merged)) == {}
    assert of_a_plan(PlanStatus(), PlanStatus(delivery=merging)) == {}


def test_a_delivery_by_pull_request_is_counted_with_its_forge_once_it_is_open_and_once_merged() -> (
    None
):
    branch = "refs/heads/bernstein/web-1"
    opened = Delivery(state="PullRequestOpen", branch=branch)
    merged = Delivery(state="Merged", branch=branch)
    proposed, landed = PlanStatus(delivery=opened), PlanStatus(delivery=merged)

    told = of_a_plan(PlanStatus(), proposed, on_a_forge(None))
    assert told == {"team Plan pr gitea PullRequestOpen": 1}
    assert of_a_plan(proposed, proposed, on_a_forge(None)) == {}
    assert of_a_plan(proposed, landed, on_a_forge(None)) == {"team Plan pr gitea Merged": 1}
    assert of_a_plan(proposed, landed) == {"team Plan pr none Merged": 1}, "its Project is gone"


def test_an_answer_to_a_request_is_counted_once_by_verb_and_answer() -> None:
    def answer(number: int, verb: str, said: str) -> dict[str, Any]:
        fields = {"id": f"r-{number}", "verb": verb, "by": "ann", "asked": "x", "answer": said}
        return fields | {"reason": verb, "time": objects.NOW}

    first = [answer(1, "Kill", "Done")]
    old, new = (
        objects.status(requests=answers)
        for answers in (first, [*first, answer(2, "Kill", "Refused"), answer(3, "Polish", "Done")])
    )

    assert of_a_task(old, new) == {"team Task Kill Refused": 1, "team Task other Done": 1}
    assert of_a_task(new, new) == {}


def test_what_goes_back_to_an_agent_from_a_pull_request_is_counted_once() -> None:
    def heard(times: int) -> PlanStatus:
        feedback = Feedback(times=times) if times else None
        return PlanStatus(delivery=Delivery(state="PullRequestOpen", feedback=feedback))

    assert of_a_plan(heard(0), heard(1)) == {"team Plan": 1}
    assert of_a_plan(heard(1), heard(1)) == {}
