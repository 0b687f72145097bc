"""What the cache of a repository looks at, from the caches of the operator."""

from __future__ import annotations

from datetime import datetime

from bernstein.api.projects.cache import CacheState
from bernstein.api.projects.workplace import Workplace
from bernstein.controllers.caches import Caches
from bernstein.controllers.caches.indexes import CLAIMING, of_project
from bernstein.core import diagnosis
from bernstein.core.diagnosis import Diagnosis
from bernstein.observe.metrics import Metrics

LOOK_SECONDS = 15.0
"""Until pods are looked at again that wait for a claim."""


def count(before: CacheState | None, after: CacheState, namespace: str, metrics: Metrics) -> None:
    """Counts what has become of a look at the cache, where it ended just now."""
    if after.filled is not None and (before is None or before.filled != after.filled):
        had, has = before.content if before is not None else None, after.content
        if has is None or has == had:
            metrics.cache_looked_at(namespace, "unchanged", 0)
        else:
            metrics.cache_looked_at(namespace, "filled", has.pack.size + has.index.size)
    elif after.failures > (before.failures if before is not None else 0):
        metrics.cache_looked_at(namespace, "failed", 0)


def trouble(
    project: Workplace, caches: Caches, now: datetime
) -> tuple[Diagnosis | None, float | None]:
    """Why a pod of the Project that was told of its cache does not get the claim, and when to look
    again, where one waits for it."""
    known = project.status.cache_of(project.spec.repository.name)
    if known is None or known.content is None:
        return None, None
    waits = None
    own = of_project(project.metadata.namespace, project.metadata.name)
    for pod in caches.pods.by_index(CLAIMING, own):
        if diagnosis.claimed(pod) != known.claim:
            continue
        found = diagnosis.claim_trouble(pod, now)
        if found is not None:
            return found, None
        waits = LOOK_SECONDS
    return None, waits
