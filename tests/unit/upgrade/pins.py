"""Changes by which what something depends on is kept from its start on."""

from __future__ import annotations

from typing import Any

from bernstein.checks.spec import DIGEST
from tests.unit.upgrade.change import Change
from tests.unit.upgrade.differences import Pair
from tests.unit.upgrade.then import ref_then

_DELETE = "delete jobs"


def _begins(pair: Pair) -> bool:
    """Whether it asks for the same but for what `asked_then` says, and for Tasks that name those of
    the stages that they depend on."""
    was, now = next((d.recorded, d.today) for d in pair.differences if d.path == "actions")
    return bool([*map(_then, now)] == was)


def _then(action: dict[str, Any]) -> dict[str, Any]:
    if action["action"] == "create tasks":
        return action | {"tasks": [_task_then(task, action["tasks"]) for task in action["tasks"]]}
    if action["action"] != "run begin":
        return action
    rest = {key: value for key, value in action.items() if key != "again"}
    return rest | {"integration": ref_then(action["integration"])}


def _task_then(task: dict[str, Any], beside: list[dict[str, Any]]) -> dict[str, Any]:
    spec = {key: value for key, value in task["spec"].items() if key != "dependsOnStages"}
    names = [
        other["metadata"]["name"]
        for stage in task["spec"].get("dependsOnStages", ())
        for other in beside
        if other["spec"]["stage"] == stage
    ]
    return task | {"spec": spec | ({"dependsOn": names} if names else {})}


def _names_its_project(pair: Pair) -> bool:
    return bool(pair.today["projectUid"] == f"uid-{pair.today['project']}")


def _ends_what_is_not_asked(pair: Pair) -> bool:
    was, now = next((d.recorded, d.today) for d in pair.differences if d.path == "actions")
    more = [action for action in now if action not in was]
    return bool([a for a in now if a in was] == was and [a["action"] for a in more] == [_DELETE])


def _goes_on_from_what_was_pushed(pair: Pair) -> bool:
    kept, of_session = pair.today["checkpoint"], (pair.today["session"], pair.before["session"])
    return len(pair.today["checkpointSha"]) == 40 and kept.rpartition("/")[2] in (
        name.rpartition("-")[2] for name in of_session
    )


PINS = (
    Change(
        "a Task says which commit its next session goes on from",
        "Task",
        ("checkpointSha",),
        _goes_on_from_what_was_pushed,
    ),
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
        "more digits of a Plan's uid are in its refs, and its Tasks depend on stages",
        "Plan",
        ("actions",),
        _begins,
    ),
)
