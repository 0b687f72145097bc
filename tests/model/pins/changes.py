"""When people change Projects under what runs: in some seeds only, so that all others are played as
before there were such people."""

from __future__ import annotations

from typing import Any

from tests.model.dice import Dice

OFTEN = 0.25
"""The part of the seeds in which there are such people."""
CHANGES = {
    "prices": 3.0,
    "models": 2.0,
    "time": 2.0,
    "memory": 1.0,
    "image": 1.0,
    "second": 2.0,
    "delete": 2.0,
}


def changes(dice: Dice, seconds: float) -> list[dict[str, Any]]:
    """Events of the first `seconds`; most seeds have none."""
    if not dice.chance(OFTEN, "pins"):
        return []
    count = 1 + int(dice.between(0, 5, "pins", "how many"))
    made = [_change(dice, n, seconds) for n in range(count)]
    if dice.chance(0.5, "pins", "give up"):
        made.append({"at": seconds - 1, "do": "project", "what": "give up"})
    return made


def _change(dice: Dice, number: int, seconds: float) -> dict[str, Any]:
    which = ("pins", number)
    what = dice.weighed(CHANGES, *which, "what")
    event: dict[str, Any] = {
        "at": round(dice.between(0, 0.7 * seconds, *which, "at"), 2),
        "do": "project",
        "what": what,
        "pick": round(dice.draw(*which, "pick"), 3),
    }
    if what == "delete":
        event["propagation"] = dice.pick(("Background", "Foreground"), *which, "way")
        back = round(dice.between(0, 300, *which, "seconds"), 1)
        event["seconds"] = back if dice.chance(0.7, *which, "again") else None
    return event
