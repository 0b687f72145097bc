"""How often Jobs that propose a pull request, or read what is said of one, have asked the forge.

Those that watch tell it in the status of the Project.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from bernstein.api.encoding import load
from bernstein.api.pod import Failure
from bernstein.api.programs.forge import ListenResult, ProposeResult
from bernstein.api.programs.forge_jobs import LISTEN, PROPOSE, AskedForge
from bernstein.api.project import Project
from bernstein.core import labels, pods
from bernstein.core.diagnosis import MOST_REQUESTS
from bernstein.kube.resource import Key, Object
from bernstein.observe.metrics import Metrics

_RESULTS: dict[str, type[ListenResult | ProposeResult]] = {
    LISTEN: ListenResult,
    PROPOSE: ProposeResult,
}


def observer(
    metrics: Metrics, project: Callable[[Key], Project | None]
) -> Callable[[Object | None, Object | None], None]:
    """A handler for the pods' informer: counts each once, when it is seen to end. One that was
    first seen ended was counted by an earlier process."""

    def handle(old: Object | None, new: Object | None) -> None:
        own = (new or {}).get("metadata", {}).get("labels", {})
        kind = own.get(labels.JOB)
        result = _RESULTS.get(kind)
        if result is None or old is None or new is None or pods.terminated(old, kind) is not None:
            return
        end = pods.terminated(new, kind)
        if end is None:
            return
        told = _asked(result, end)
        if told is None:
            return
        namespace = new["metadata"]["namespace"]
        requests = min(max(told.requests, 0), MOST_REQUESTS)
        metrics.forge_asked(
            namespace,
            _forge(project(Key(namespace, own.get(labels.PROJECT, ""))), own),
            requests=requests,
            unchanged=min(max(told.unchanged, 0), requests),
        )

    return handle


def _asked(
    kind: type[ListenResult | ProposeResult], end: Mapping[str, Any]
) -> AskedForge | ListenResult | ProposeResult | None:
    """What its last words say of its requests; None: nothing."""
    message = str(end.get("message") or "")
    try:
        return load(kind, message) if end.get("exitCode") == 0 else load(Failure, message).asked
    except (ValueError, RecursionError):
        return None


def _forge(project: Project | None, own: Object) -> str:
    """The type of the forge of a Job's repository, by its labels; "": it is gone."""
    for repository in project.spec.repositories if project is not None else ():
        if (
            repository.forge is not None
            and own.get(labels.REPOSITORY, repository.name) == repository.name
        ):
            return repository.forge.type
    return ""
