"""Which changes of an object matter to other objects, whatever its kind."""

from __future__ import annotations

from bernstein.api.project import Project
from bernstein.core.projects.readiness import not_ready
from bernstein.kube.resource import Object, is_deleting


def same_spec(old: Object | None, new: Object | None) -> bool:
    """Nothing but the status has changed."""
    if old is None or new is None or is_deleting(old) != is_deleting(new):
        return False
    return bool(old["metadata"].get("generation") == new["metadata"].get("generation"))


def spec_changed(old: Object | None, new: Object | None) -> bool:
    return not same_spec(old, new)


def gone(_: object, new: object) -> bool:
    return new is None


def readiness_changed(old: Project | None, new: Project | None) -> bool:
    """A Project may be used again, or may not."""
    return _may_be_used(old) != _may_be_used(new)


def _may_be_used(project: Project | None) -> bool:
    return project is not None and not_ready(project) is None
