"""Changes by which what something depends on is kept from its start on."""

from __future__ import annotations

from typing import Any

from bernstein.checks.spec import DIGEST
from tests.unit.upgrade.change import Change
from tests.unit.upgrade.differences import Pair
from tests.unit.upgrade.then import ref_then

_DELETE = "delete jobs"


def _begins(pair: Pair) -> bool:
    """Whether it asks for the same Job but for what `asked_then` says."""
    was, now = next((d.recorded, d.today) for d in pair.differences if d.path == "actions")
    return bool([*map(_begin_then, now)] == was)


def _begin_then(action: dict[str, Any]) -> dict[str, Any]:
    if action["action"] != "run begin":
        return action
    return action | {"integration": ref_then(action["integration"])}


def _names_its_project(pair: Pair) -> bool:
    return bool(pair.today["projectUid"] == f"uid-{pair.today['project']}")


def _ends_what_is_not_asked(pair: Pair) -> bool:
    was, now = next((d.recorded, d.today) for d in pair.differences if d.path == "actions")
    more = [action for action in now if action not in was]
    return bool([a for a in now if a in was] == was and [a["action"] for a in more] == [_DELETE])


PINS = (
    Change(
        "a check of a Plan that is not asked for any more does not run on",
        "Plan",
        ("actions",),
        _ends_what_is_not_asked,
    ),
    *(
        Change(
            f"the verification of a {kind} says which checks judge it",
            kind,
            ("verification.policy",),
            lambda pair: len(pair.today["verification"]["policy"]) == DIGEST,
        )
        for kind in ("Plan", "Task")
    ),
    *(
        Change(
            f"a {kind} says which Project it began under",
            kind,
            ("projectUid",),
            _names_its_project,
        )
        for kind in ("Plan", "Task")
    ),
    Change(
        "more digits of a Plan's uid are in its refs",
        "Plan",
        ("actions",),
        _begins,
    ),
)
