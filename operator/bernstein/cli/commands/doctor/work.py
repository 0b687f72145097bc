"""The Plans and Tasks of the namespace that stand still until a person acts."""

from __future__ import annotations

from collections.abc import Iterable

from bernstein.api.plan import Plan
from bernstein.api.task import Task
from bernstein.api.waiting import LONGEST_MESSAGE
from bernstein.cli.cluster import Cluster
from bernstein.cli.commands.doctor.finding import Finding, Outcome, unreadable
from bernstein.cli.naming import called
from bernstein.core.sanitise import line, some
from bernstein.core.waiting import parted, stands_still
from bernstein.kube.errors import Forbidden


async def look(cluster: Cluster) -> list[Finding]:
    try:
        subjects: list[Plan | Task] = [*await cluster.plans(), *await cluster.tasks()]
    except Forbidden:
        return [unreadable("work", f"Plans and Tasks in namespace '{cluster.namespace}'")]
    return by_cause(subjects, cluster.namespace)


def by_cause(subjects: Iterable[Plan | Task], namespace: str) -> list[Finding]:
    """One finding for each reason, however many stand still for it. What has ended needs nobody."""
    stalled: dict[str, list[Plan | Task]] = {}
    for subject in subjects:
        waiting = subject.status.waiting
        if waiting is not None and stands_still(subject.status):
            stalled.setdefault(waiting.reason, []).append(subject)
    if not stalled:
        text = f"nothing in namespace '{namespace}' needs a person"
        return [Finding("work", Outcome.GOOD, text)]
    return [_of(reason, those) for reason, those in sorted(stalled.items())]


def _of(reason: str, those: list[Plan | Task]) -> Finding:
    first = those[0]
    assert first.status.waiting is not None
    cause, remedy = parted(first.status.waiting.message)
    names = some(map(called, those), len(those))
    verb = "needs" if len(those) == 1 else "need"
    text = f"{names} {verb} a person ({reason}): {line(cause, LONGEST_MESSAGE)}"
    return Finding("work", Outcome.BAD, text, remedy or "", first.metadata.name)
