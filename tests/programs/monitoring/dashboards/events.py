"""Panels that show nothing before something happens that the played hour does not have."""

from __future__ import annotations

_FORGE = "a Project delivers by pull request, and a Job has asked its forge"
_CACHE = "a Project has a cache of its repository, and a Job has looked at it"
_DELETED = "a Plan or Task is deleted, of which refs are left in the repository"
NEEDS = {
    ("verification", "Sent back"): "somebody said something of a pull request",
    ("internals", "Spans of traces"): "the operator has a collector, and something has ended",
    ("internals", "Requests to forges"): _FORGE,
    ("internals", "Requests left"): _FORGE,
    ("internals", "Pull requests withdrawn"): "a Plan with an open pull request is deleted",
    ("internals", "Refs that wait to be deleted"): _DELETED,
    ("internals", "Refs pruned"): _DELETED,
    ("internals", "Looks at caches"): _CACHE,
    ("internals", "Written to caches"): _CACHE,
}
"""By dashboard and panel: the event that it needs."""
