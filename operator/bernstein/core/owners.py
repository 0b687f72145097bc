"""Owner references: they make the API server delete an object when its owner is deleted."""

from __future__ import annotations

from typing import Any

from bernstein.api.meta import API_VERSION


def owner_reference(kind: str, name: str, uid: str) -> dict[str, Any]:
    """A reference to the controller of an object, of one of our kinds.

    Deleted in the foreground, the owner waits until the object is gone.
    """
    return {
        "apiVersion": API_VERSION,
        "kind": kind,
        "name": name,
        "uid": uid,
        "controller": True,
        "blockOwnerDeletion": True,
    }
