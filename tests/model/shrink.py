"""Makes a scenario small that finds something: fewer events that find the same."""

from __future__ import annotations

from collections.abc import Callable

from tests.model.scenario import Scenario
from tests.model.world import Outcome


def shrink(
    scenario: Scenario, what: str, play: Callable[[Scenario], Outcome], most: int = 300
) -> Scenario:
    """The smallest scenario that was found in so many runs and that breaks the same rule."""
    runs = 0

    def still(candidate: Scenario) -> bool:
        nonlocal runs
        runs += 1
        return play(candidate).what == what

    size = max(1, len(scenario.events) // 2)
    while runs < most:
        smaller = _without_one_part(scenario, size, still)
        if smaller is not None:
            scenario = smaller
        elif size == 1:
            break
        size = max(1, min(size, len(scenario.events)) // 2) if smaller is None else size
    return scenario


def _without_one_part(
    scenario: Scenario, size: int, still: Callable[[Scenario], bool]
) -> Scenario | None:
    for first in range(0, len(scenario.events), size):
        candidate = scenario.without(list(scenario.events[first : first + size]))
        if still(candidate):
            return candidate
    return None
