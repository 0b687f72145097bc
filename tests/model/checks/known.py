"""Projects that keep what gates have said of trees, and what has these judged once more: agents
that leave the same again, and people who want one more gate. In some seeds only.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.model.dice import Dice

KNOWN = 0.5
"""In how many seeds verdicts are kept, of commands, too; as a share."""
REPEATS = 0.5
"""Of how many Tasks each attempt leaves the same tree, in these."""
GIT = {"to": [{"ipBlock": {"cidr": "192.0.2.7/32"}}]}
"""Where git is: else checks could ask anybody at its port, and no verdict of a command is kept."""


def keeps(dice: Dice) -> bool:
    return dice.chance(KNOWN, "known")


def repeats(project: Mapping[str, Any]) -> float:
    """Of how many Tasks each attempt leaves the same tree, under a Project of this spec."""
    return REPEATS if project.get("gates", {}).get("cacheEnabled") else 0.0


def changes(dice: Dice, seconds: float) -> list[dict[str, Any]]:
    """Events of the first `seconds`: whatever has not landed by then is judged by another gate,
    too."""
    count = int(dice.between(0, 6, "other gates")) if keeps(dice) else 0
    gate = {"do": "edit project", "change": "another gate"}
    return [
        gate | {"at": round(dice.between(0, seconds, "other gate", n), 2), "pick": n / 10}
        for n in range(count)
    ]
