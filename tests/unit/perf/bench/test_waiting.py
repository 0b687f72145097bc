"""What a Task costs beside others that wait."""

from __future__ import annotations

from collections import Counter

from tests.perf.bench.moments import Span
from tests.perf.bench.waiting import Costs, Size, table, warmed_up


def span(operator: float, reconciles: float, lost: int = 0) -> Span:
    return Span(1.0, {"operator": operator}, 0.0, Counter(), Counter(), reconciles, lost)


def test_costs_are_those_of_one_task_and_what_they_grow_by_is_told() -> None:
    size = Size(waiting=(100, 2000), tasks=10)
    found = {
        100: Costs(made=[span(0.1, 30)], passed=[span(1, 300)]),
        2000: Costs(made=[span(0.4, 30)], passed=[span(3, 600)]),
    }

    rows = {row.what: row.cells for row in table(size, found).rows}

    assert rows["operator's CPU for a new Task"] == {
        "100 wait": (10,),
        "2,000 wait": (40,),
        "most": (4,),
    }
    assert rows["reconciles for one that passes"] == {
        "100 wait": (30,),
        "2,000 wait": (60,),
        "most": (2,),
    }


async def test_a_first_round_beside_each_number_is_not_counted() -> None:
    played: list[int] = []

    async def play(run: int) -> str:
        played.append(run)
        return f"round {run}"

    assert await warmed_up(2, play) == ["round 1", "round 2"]
    assert played == [0, 1, 2]


def test_a_lease_that_was_lost_beside_any_number_is_told() -> None:
    quiet = span(1, 30)
    found = {
        100: Costs(made=[quiet, span(1, 30, lost=1)], passed=[quiet, span(1, 30, lost=2)]),
        2000: Costs(made=[quiet, quiet], passed=[quiet, span(1, 30, lost=1)]),
    }

    (row,) = (r for r in table(Size((100, 2000), 10), found).rows if r.what == "Lease lost")

    assert row.cells == {"100 wait": (0, 3), "2,000 wait": (0, 1), "most": (0, 3)}
