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
from bernstein.core.verification.candidate import can_be_made_anew
from bernstein.core.verification.expected import rules
from bernstein.core.verification.expected.required import required_checks
from bernstein.core.verification.look import Question
from bernstein.core.verification.round import afresh
from bernstein.core.verification.summary import unanswered


def specs_of(snapshot: PlanSnapshot) -> tuple[CheckSpec, ...]:
    """Every rule and gate, and every signal of every Closed Task, each once.

    Models are not asked again: they judge what one step has changed, and this is the work of all.
    Nor is anything formatted: each step's work was, and what lands is what was judged.
    """
    assert snapshot.project is not None
    everything = Subject(
        any_changed=True, python_changed=True, tests_changed=True, deps_changed=True
    )
    project = snapshot.project.spec
    ruled = rules.of_whole(project, snapshot.plan.spec, everything)
    checks = required_checks(signals_of(snapshot), project, everything, ruled)
    return tuple(check for check in checks if check.asks is None and not check.formats)


def signals_of(snapshot: PlanSnapshot) -> tuple[Signal, ...]:
    """Every signal of every Closed Task, each once, in the order in which names of checks number
    them. Where others have ended, what they were to do is not delivered. Those that ask a model
    judge a step alone.
    """
    signals: dict[str, Signal] = {}
    for _, task in sorted(snapshot.tasks.items()):
        closed = task.status.state is TaskState.CLOSED
        for signal in task.spec.completion_signals if closed else ():
            if not isinstance(kinds.of(signal.type).runs, Asks):
                signals.setdefault(signal.model_dump_json(), signal)
    return tuple(signals.values())


def question(snapshot: PlanSnapshot, integration: Integration, judged: Verification) -> Question:
    """How the tree that the Plan delivers is judged."""
    assert snapshot.project is not None
    origin = Origin(ref=integration.ref, sha=integration.tip)
    return Question(
        job=snapshot.job,
        checks=specs_of(snapshot),
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
    candidate, expected = status.verification, specs_of(snapshot)
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
