"""Which changes of an object concern others than itself; told from raw objects, for every event."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bernstein.core.scheduling import ACTIVE
from bernstein.kube.resource import Object, is_deleting

When = Callable[[Object | None, Object | None], bool]

_IN_LINE = frozenset({"MaxAgents", "FileOverlap", "BatchWaits"})
_OVER = frozenset({"Closed", "Cancelled", "Failed"})


def same_spec(old: Object | None, new: Object | None) -> bool:
    """Only the status has changed."""
    if old is None or new is None or is_deleting(old) != is_deleting(new):
        return False
    return bool(old["metadata"].get("generation") == new["metadata"].get("generation"))


def spec_changed(old: Object | None, new: Object | None) -> bool:
    return not same_spec(old, new)


def project_changed(old: Object | None, new: Object | None) -> bool:
    """It says something else, or may be used again, or may not."""
    return spec_changed(old, new) or _readiness(old) != _readiness(new)


def _readiness(project: Object | None) -> str | None:
    conditions = _status(project).get("conditions", ())
    return next((c["status"] for c in conditions if c["type"] == "Ready"), None)


def plan_lets_go(old: Object | None, new: Object | None) -> bool:
    """A Plan's Tasks may have to look again."""
    if spec_changed(old, new):
        return True
    before, after = _status(old), _status(new)
    return any(before.get(k) != after.get(k) for k in ("integration", "expanded", "endedAt"))


def starts_or_ends(old: Object | None, new: Object | None) -> bool:
    """The number of agents at work may have changed."""
    return (_is_active(old), _status(old).get("project")) != (
        _is_active(new),
        _status(new).get("project"),
    )


def gone(_: Object | None, new: Object | None) -> bool:
    return new is None


def session_ends(old: Object | None, new: Object | None) -> bool:
    """A session is over, is being deleted or gone: its Plan may have to settle it, or has."""
    if new is None:
        return True
    was = old is not None and is_deleting(old)
    return (_is_dead(old), was) != (_is_dead(new), is_deleting(new))


def _is_dead(session: Object | None) -> bool:
    return bool(_status(session).get("state") == "Dead")


def frees_a_start(old: Object | None, new: Object | None) -> bool:
    """A Task gives back what another may wait for to start: an agent, files, its turn, a cause."""
    return not _takes(old) <= _takes(new)


def _takes(task: Object | None) -> set[tuple[str, ...]]:
    if task is None or is_deleting(task):
        return set()
    status = _status(task)
    state = status.get("state")
    taken: set[tuple[str, ...]] = set()
    if state in ACTIVE:
        taken |= {("agent",), ("files",), ("turn",)}
    if state in ("Done", "PendingApproval") and not _is_stalled(status):
        taken.add(("files",))
    if _is_ready(task) and "cancel" not in task["spec"]:
        taken.add(("turn",))
    hold = status.get("hold")
    if hold is not None:
        taken.add(("hold", hold["reason"], hold["retryAt"]))
    return taken


def frees_a_merge(old: Object | None, new: Object | None) -> bool:
    """A Task no longer stands where another one waits to land."""
    return _merges(old) not in (None, _merges(new))


def _merges(task: Object | None) -> str | None:
    if task is None or is_deleting(task):
        return None
    status = _status(task)
    step: str | None = (status.get("delivery") or {}).get("step")
    return step if status.get("state") == "Done" and not _is_stalled(status) else None


def leaves_the_line(old: Object | None, new: Object | None) -> bool:
    """A Task that was ready is not any more: batch Tasks wait until no other is."""
    return _is_ready(old) and not _is_ready(new)


def matters_downstream(old: Object | None, new: Object | None) -> bool:
    """Tasks that depend on this one may go on, or never will."""
    return _as_upstream(old) != _as_upstream(new)


def _as_upstream(task: Object | None) -> tuple[Any, ...] | None:
    if task is None:
        return None
    status = _status(task)
    state = status.get("state")
    queue = (status.get("queue") or {}).get("reason")
    return (state if state in _OVER else None, _is_stalled(status), queue == "DependencyFailed")


def _status(obj: Object | None) -> Object:
    found: Object = (obj or {}).get("status") or {}
    return found


def _is_active(task: Object | None) -> bool:
    return _status(task).get("state") in ACTIVE


def _is_ready(task: Object | None) -> bool:
    status = _status(task)
    return status.get("state") == "Open" and _is_in_line(status)


def _is_in_line(status: Object) -> bool:
    reason = (status.get("queue") or {}).get("reason")
    return reason is None or reason in _IN_LINE


def _is_stalled(status: Object) -> bool:
    return any(c["type"] == "Stalled" for c in status.get("conditions", ()))
