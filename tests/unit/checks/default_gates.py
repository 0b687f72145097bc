"""Which gates run where a test says nothing of them."""

from __future__ import annotations

from typing import Any

from bernstein.checks.gates import GATES

Object = dict[str, Any]

BY_DEFAULT = ("lint", "pii_scan")
"""The gates that run in tests where their Project says nothing of them."""


def only_known(gates: Object) -> Object:
    """The settings without any other gate that is on by default: which ones run, tests decide."""
    pipeline = gates.get("pipeline", [])
    said = {*BY_DEFAULT, *(settings["name"] for settings in pipeline)}
    others = sorted({gate.name for gate in GATES if gate.default_on} - said)
    off = [{"name": name, "enabled": False} for name in others]
    return {"extends": "Default"} | gates | {"pipeline": [*pipeline, *off]}
