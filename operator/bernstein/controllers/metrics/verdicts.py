"""Verdicts, deliveries and answers to requests as metrics, of Tasks and of Plans alike."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, Protocol

from bernstein.api.delivery import Delivery
from bernstein.api.projects.workplace import Workplace
from bernstein.api.requests import Answer
from bernstein.api.signals import Signal
from bernstein.api.verification import Verification
from bernstein.checks.spec import SIGNAL
from bernstein.observe.metrics import AttemptLabel, Metrics
from bernstein.observe.vocabulary import NO_FORGE


class _Status(Protocol):
    @property
    def verification(self) -> Verification | None: ...
    @property
    def delivery(self) -> Delivery | None: ...


class _Asked(Protocol):
    @property
    def requests(self) -> tuple[Answer, ...] | None: ...


def count(
    metrics: Metrics,
    namespace: str,
    kind: Literal["Task", "Plan"],
    old: _Status,
    new: _Status,
    *,
    attempt: AttemptLabel,
    signals: Callable[[], Sequence[Signal]],
    project: Callable[[], Workplace | None],
) -> None:
    """Counts what this write has decided; call it once the write has succeeded.

    `signals` tells the completion signals that the checks' names number, where there are verdicts:
    those of a Plan are looked for in all of its Tasks. `project` is whose forge has the pull
    request.
    """
    _count_verdicts(metrics, namespace, old, new, attempt, signals)
    if _rounds(new) > _rounds(old):
        metrics.sent_back(namespace, kind)
    state = _ended(new)
    if state is not None and state != _ended(old):
        _count_delivery(metrics, namespace, kind, new.delivery, project)


def count_answers(
    metrics: Metrics, namespace: str, kind: Literal["Task", "Plan"], old: _Asked, new: _Asked
) -> None:
    """Counts the requests that this write has answered; call it once the write has succeeded."""
    known = {answer.id for answer in old.requests or ()}
    for answer in new.requests or ():
        if answer.id not in known:
            metrics.answered(namespace, kind, answer.verb, answer.answer)


def _count_delivery(
    metrics: Metrics,
    namespace: str,
    kind: Literal["Task", "Plan"],
    delivery: Delivery | None,
    project: Callable[[], Workplace | None],
) -> None:
    assert delivery is not None
    if delivery.branch is None:
        metrics.delivered(namespace, kind, delivery.state)
        return
    of = project()
    forge = of.spec.repository.forge if of is not None else None
    named = forge.type if forge is not None else NO_FORGE
    metrics.delivered(namespace, kind, delivery.state, strategy="pr", forge=named)


def _count_verdicts(
    metrics: Metrics,
    namespace: str,
    old: _Status,
    new: _Status,
    attempt: AttemptLabel,
    signals: Callable[[], Sequence[Signal]],
) -> None:
    judged, before = new.verification, old.verification
    if judged is None or not judged.checks:
        return
    if before is not None and before.checks == judged.checks and _is_told(before, judged):
        return
    same = before is not None and before.sha == judged.sha
    again = same and before is not None and (before.again is not None or _is_bypassed(judged))
    known = before.checks if before is not None and again else ()
    for check in judged.checks:
        if check in known:
            continue  # it stood while another check was run again
        if check.kind == "gate":
            metrics.gate_verdict(namespace, check.name, check.verdict)
            if check.cached and check.bypass is None:  # its no was counted when it was told
                metrics.gate_was_known(namespace, check.name)
        else:
            number = int(check.name.removeprefix(SIGNAL))
            metrics.signal_verdict(namespace, signals()[number].type, check.verdict)
    if judged.passed is not None:
        metrics.verified(namespace, attempt, passed=judged.passed, score=judged.quality_score)


def _is_told(before: Verification, judged: Verification) -> bool:
    """Whether nothing has come of the verdicts that had not before: a person may have let it go on
    without the one that was missing."""
    return judged.passed in (None, before.passed)


def _is_bypassed(judged: Verification) -> bool:
    return any(check.bypass is not None for check in judged.checks)


def _rounds(status: _Status) -> int:
    """How often what was said of its pull request went back to an agent."""
    feedback = status.delivery.feedback if status.delivery is not None else None
    return feedback.times if feedback is not None else 0


def _ended(status: _Status) -> str | None:
    """How its delivery ended; None where there is none yet."""
    state = status.delivery.state if status.delivery is not None else None
    return None if state in (None, "None", "Pending") else str(state)
