"""When something else keeps Tasks that people delete, by its finalizer: in some seeds only, so that
all others are played as before there were such keepers."""

from __future__ import annotations

from typing import Any

from tests.model.dice import Dice

OFTEN = 0.2
"""The part of the seeds in which there are such keepers."""


def keepers(dice: Dice, seconds: float) -> list[dict[str, Any]]:
    """Events of the first `seconds`; most seeds have none."""
    if not dice.chance(OFTEN, "keepers"):
        return []
    count = 1 + int(dice.between(0, 3, "keepers", "how many"))
    return [_keeps(dice, n, seconds) for n in range(count)]


def _keeps(dice: Dice, number: int, seconds: float) -> dict[str, Any]:
    which = ("keepers", number)
    lasts = round(dice.between(1, seconds, *which, "seconds"), 1)
    return {
        "at": round(dice.between(0, seconds, *which, "at"), 2),
        "do": "keep",
        "pick": round(dice.draw(*which, "pick"), 3),
        "propagation": dice.pick(("Background", "Foreground"), *which, "way"),
        "seconds": lasts if dice.chance(0.7, *which, "lets go") else None,
    }
