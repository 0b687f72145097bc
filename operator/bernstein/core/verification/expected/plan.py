"""Which checks judge a Plan's work as a whole, on a tree that no Task was verified on."""

from __future__ import annotations

from bernstein.api.integration import Integration
from bernstein.api.plan import PlanStatus
from bernstein.api.signals import Signal
from bernstein.api.states import TaskState
from bernstein.api.task import Task
from bernstein.api.verification import Origin, Verification
from bernstein.checks import signals as kinds
from bernstein.checks.asks import Asks
from bernstein.checks.spec import CheckSpec, Subject
from bernstein.core.snapshot import PlanSnapshot
from bernstein.core.verification.candidate import can_be_made_anew, is_of_people
from bernstein.core.verification.expected import reviews, rules
from bernstein.core.verification.expected.required import required_checks
from bernstein.core.verification.expected.reviewers import Writer
from bernstein.core.verification.look import Question
from bernstein.core.verification.round import afresh
from bernstein.core.verification.summary import unanswered

_EVERYTHING = Subject(any_changed=True, python_changed=True, tests_changed=True, deps_changed=True)


def specs_of(snapshot: PlanSnapshot, judged: Verification | None = None) -> tuple[CheckSpec, ...]:
    """Every rule and gate, and every signal of every Closed Task, each once.

    Models are not asked again: they judge what one step has changed, and this is the work of all.
    Nor is anything formatted: each step's work was, and what lands is what was judged. Where what
    is `judged` is what people have pushed, it is no step's, and the files that may only be added to
    are looked at again.
    """
    assert snapshot.project is not None
    project, plan = snapshot.project.spec, snapshot.plan.spec
    ruled = rules.of_whole(project, plan, _EVERYTHING)
    if judged is not None and is_of_people(judged):
        ruled = rules.of_work(project, plan, (), _EVERYTHING)
    checks = required_checks(signals_of(snapshot), project, _EVERYTHING, ruled)
    return tuple(check for check in checks if check.asks is None and not check.formats)


def left_to_steps(snapshot: PlanSnapshot) -> tuple[str, ...]:
    """The checks that work has to pass, and that each step alone is asked: models answer them."""
    assert snapshot.project is not None
    project = snapshot.project.spec
    every = dict.fromkeys(
        signal.model_dump_json() for task in _closed(snapshot) for signal in _asking(task)
    )
    signals = tuple(Signal.model_validate_json(each) for each in every)
    checks = (
        *required_checks(signals, project, _EVERYTHING),
        *reviews.of_work(project, _EVERYTHING, Writer("", "")),
    )
    asked = (c for c in checks if c.asks is not None and c.required and c.skipped is None)
    return tuple(check.title for check in asked)


def _closed(snapshot: PlanSnapshot) -> list[Task]:
    tasks = (task for _, task in sorted(snapshot.tasks.items()))
    return [task for task in tasks if task.status.state is TaskState.CLOSED]


def _asking(task: Task) -> list[Signal]:
    signals = task.spec.completion_signals
    return [signal for signal in signals if isinstance(kinds.of(signal.type).runs, Asks)]


def signals_of(snapshot: PlanSnapshot) -> tuple[Signal, ...]:
    """Every signal of every Closed Task, each once, in the order in which names of checks number
    them. Where others have ended, what they were to do is not delivered. Those that ask a model
    judge a step alone.
    """
    signals: dict[str, Signal] = {}
    for task in _closed(snapshot):
        for signal in task.spec.completion_signals:
            if not isinstance(kinds.of(signal.type).runs, Asks):
                signals.setdefault(signal.model_dump_json(), signal)
    return tuple(signals.values())


def question(snapshot: PlanSnapshot, integration: Integration, judged: Verification) -> Question:
    """How the tree that the Plan delivers is judged."""
    assert snapshot.project is not None
    origin = Origin(ref=integration.ref, sha=integration.tip)
    return Question(
        job=snapshot.job,
        checks=specs_of(snapshot, judged),
        project=snapshot.project,
        pinned_sha=integration.target_sha,
        onto=integration.target,
        can_be_made_anew=can_be_made_anew(judged, origin),
        follows=snapshot.follows,
        resting=snapshot.resting,
        cache=snapshot.gate_cache,
    )


def last_task(snapshot: PlanSnapshot, integration: Integration) -> Task | None:
    """The Task whose commit is the tip; None where it was deleted."""
    for task in snapshot.tasks.values():
        delivered = task.status.delivery
        if delivered is not None and delivered.sha == integration.sha:
            return task
    return None


def of_last_task(snapshot: PlanSnapshot, integration: Integration) -> Verification | None:
    """Its verification."""
    last = last_task(snapshot, integration)
    return last.status.verification if last is not None else None


def to_judge(
    snapshot: PlanSnapshot, status: PlanStatus, integration: Integration
) -> Verification | None:
    """What must be judged (again) before the Plan lands; None where its verdicts suffice.

    They do not where the Project asks for checks that were not run, or where the last Task is gone
    and nobody can say any more what it was judged by.
    """
    candidate = status.verification
    expected = specs_of(snapshot, candidate)
    if candidate is not None:
        return afresh(candidate) if unanswered(candidate, expected) else None
    last = of_last_task(snapshot, integration)
    if last is not None and not unanswered(last, (s for s in expected if s.kind == "gate")):
        return None
    return of_tip(None, integration)


def of_tip(before: Verification | None, integration: Integration) -> Verification:
    """The tip of the integration ref, to be judged as a whole. `before`: what was judged last."""
    number = before.round + 1 if before is not None else 0
    return Verification(
        round=number,
        first_round=number or None,
        base=integration.target_sha,
        sha=integration.tip,
        tree=integration.tree or "",
        ref=integration.ref,
    )
