"""Regular expressions that are made to hold up whoever compiles them: one operator serves all.

Each is first seen to hold up the loop where patterns are compiled.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from time import process_time

import pytest

from bernstein.checks import patterns
from bernstein.core.plans import judgement
from bernstein.core.plans.decide import decide
from bernstein.core.scheduling import expressions
from bernstein.core.snapshot import PlanSnapshot
from tests.unit.core import objects
from tests.unit.core.objects import NOW, Object

pytestmark = pytest.mark.verification

MOST_SECONDS = 0.2
"""For which the loop may be held up: a Lease of 15 seconds is renewed beside all else."""
LOOKS = 3
"""Of which the quickest counts, on a machine that does other work besides."""


def bomb(number: int) -> str:
    """As long as a pattern may be; to compile one takes more than a second."""
    return f"(?i){number}" + "[\x01-\U0010ffff]" * 203


def signal(number: int) -> Object:
    return {"type": "file_contains", "path": "a", "contains": bomb(number), "regex": True}


def of_a_plan() -> None:
    signals: list[Object] = [{"completionSignals": [signal(n)]} for n in range(2)]
    steps = [{"title": f"Step {n}", **each} for n, each in enumerate(signals)]
    plan = objects.plan(begun=False, stages=[{"name": "build", "steps": steps}])
    decide(PlanSnapshot(plan, objects.project()), NOW)


def of_a_task() -> None:
    task = objects.task(completionSignals=[signal(1), signal(2)])
    expressions.judged(task, task.status, NOW)


def forget() -> None:
    """What was judged before, as after a restart."""
    patterns.problem.cache_clear()
    judgement.problems_of.__self__._known.clear()  # type: ignore[attr-defined]
    re.purge()


async def held_up(step: Callable[[], None]) -> float:
    """For how long, in seconds of CPU, nothing else ran in the loop while it took this step."""
    longest, last = 0.0, process_time()

    async def beat() -> None:
        nonlocal longest, last
        while True:
            longest, last = max(longest, process_time() - last), process_time()
            await asyncio.sleep(0)

    beside = asyncio.create_task(beat())
    await asyncio.sleep(0)
    step()
    await asyncio.sleep(0)
    beside.cancel()
    return longest


def compiled(pattern: str) -> str | None:
    re.compile(pattern)
    return None


@pytest.mark.parametrize("step", [of_a_plan, of_a_task])
async def test_no_pattern_of_203_wide_classes_holds_up_the_operators_loop_for_200_ms(
    step: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as taken:
        forget()
        taken.setattr(patterns, "problem", compiled)
        assert await held_up(step) > 5 * MOST_SECONDS, "where it is compiled all else waits"

    seconds = []
    for _ in range(LOOKS):
        forget()
        seconds.append(await held_up(step))
    assert min(seconds) < MOST_SECONDS
