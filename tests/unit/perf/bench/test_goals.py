"""What is told of goals, and of why one is missed."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.perf.bench import checkout, closed, goals, overhead, throughput, waiting
from tests.perf.bench.goals import GOALS, of_row, told, untold, verdicts
from tests.perf.bench.moments import Span
from tests.perf.bench.table import Table
from tests.perf.bench.throughput import COLUMNS

FOUR = "Tasks of four Jobs: 100 in 25 Projects"


def span(api: float = 1.0, operator: float = 1.0, reconciles: float = 100, lost: int = 0) -> Span:
    cpu = {
        "operator": operator,
        "kube-apiserver": api,
        "etcd": 0.1,
        "bench": 0.1,
        "kwok": 0.1,
        "kube-controller-manager": 0.1,
        "kube-scheduler": 0.1,
    }
    return Span(10.0, cpu, 0.02, Counter(), Counter(), reconciles, lost)


def of_throughput(tasks_seconds: float, api: float, operator: float, lost: int = 0) -> Table:
    runs = {name: [throughput.Run(10, span(api=1.0))] * 2 for name in COLUMNS}
    runs["Tasks"] = [throughput.Run(tasks_seconds, span(api, operator, lost=lost))] * 2
    return throughput.costs(FOUR, 10, throughput.Found(pods=4, runs=runs))


def of_waiting(most: float, lost: int = 0) -> Table:
    passed = [span(operator=1, lost=lost)]
    found = {
        100: waiting.Costs(made=[span(operator=1, reconciles=30)], passed=passed),
        2000: waiting.Costs(made=[span(operator=most, reconciles=30)], passed=[span(operator=1)]),
    }
    return waiting.table(waiting.Size((100, 2000), 10), found)


def of_closed(megabytes: int, lost: int) -> Table:
    few, many = (
        closed.Run(2.0 + mb / 100, n, 0, 0, mb * 10**6, mb * 10**6, n, {"PATCH tasks": n})
        for mb, n in ((90, 0), (megabytes, lost))
    )
    return closed.table({0: [few, few], 10_000: [many, many]}, 7_000)


def of_overhead(seconds: float, slow: int = 0, ours: float = 0.1) -> Table:
    """Of 20 Tasks in each run so many are `slow`."""
    of_each = dict.fromkeys(overhead.PHASES, 0.1) | {overhead.PHASES[0]: seconds}
    of_each |= dict.fromkeys((*overhead.OURS, overhead.OUR_LAST), ours)
    of_each |= dict.fromkeys(overhead.PROGRAMS.values(), 0.1)
    of_slow = of_each | {overhead.PHASES[0]: 12.0}
    return overhead.table(overhead.Size(20, 2), [[of_slow] * slow + [of_each] * (20 - slow)] * 2)


def of_checkouts(seconds: float) -> list[Table]:
    """Each takes ten without a cache, and so many with one."""
    without = {goals.ALL: 10.0, goals.CPU: 5.0, checkout.FETCHED: 9.0}
    used = {goals.ALL: seconds, goals.CPU: seconds / 2, checkout.COPIED: 0.5}
    runs = {goals.WITHOUT: [without] * 2, goals.WITH: [used] * 2}
    return checkout.tables(dict.fromkeys(checkout.KINDS, runs), "500 MB")


REACHED = [
    *of_checkouts(2.0),
    of_throughput(tasks_seconds=12, api=1.4, operator=0.5),
    of_waiting(most=1.4),
    of_closed(megabytes=200, lost=0),
    of_overhead(4.0, slow=1),
]


def test_every_goal_is_about_a_figure_that_there_is() -> None:
    lines = told(verdicts(REACHED))

    assert len(lines) == len(GOALS)
    assert [line for line in lines if not line.startswith("reached: ")] == []
    assert untold(REACHED) == []


@pytest.mark.parametrize(
    ("table", "missed", "cause"),
    [
        (
            of_throughput(tasks_seconds=20, api=1.4, operator=0.5),
            ["rate, of bare: 0.5, at least 0.7"],
            "API server +40, etcd 0",
        ),
        (
            of_throughput(tasks_seconds=12, api=1.6, operator=0.8),
            ["operator's CPU a pod, Tasks: 20 ms, at most 13 ms", "API server's CPU, of bare: 1.6"],
            "`profile` in which function",
        ),
        (
            of_waiting(most=4),
            ["operator's CPU for a new Task, most: 4, at most 1.5"],
            "reconciles for a new Task 3 and 3",
        ),
        (
            of_closed(megabytes=700, lost=1),
            ["most memory seen, 10,000 more: 700 MB, at most 250 MB", "Lease lost"],
            "90 beside none, 61 KB for each Task",
        ),
        (of_closed(megabytes=90, lost=3), ["writes at a restart"], "PATCH tasks 3"),
        (
            of_throughput(tasks_seconds=12, api=1.4, operator=0.5, lost=1),
            ["Lease lost, Tasks: 1, at most 0"],
            "reconciles 10",
        ),
        (
            of_waiting(most=1.4, lost=1),
            ["Lease lost, most: 1, at most 0"],
            "reconciles for a new Task 3 and 3",
        ),
        (
            of_overhead(9.0),
            ["all, p50: 9.6 s, at most 7.5 s", "all, p50: 9.6 s, at most 8 s"],
            f"{overhead.PHASES[0]} 9, ",
        ),
        (
            of_overhead(4.0, slow=2),
            ["all, p95: 12.6 s, at most 12 s"],
            f"{overhead.PHASES[0]} 12, ",
        ),
        (
            of_checkouts(4.0)[-1],
            ["CPU of all, but the server's, times faster: 2.5, at least 5"],
            "with a cache, s: git fetches -, the cache is copied 0.5",
        ),
        (
            of_checkouts(4.0)[1],
            ["without a cache, times faster: 2.5, at least 5"],
            "the cache is copied 0.5",
        ),
        (
            of_overhead(1.0, ours=0.6),
            ["all of ours, p50: 2.7 s, at most 2 s"],
            "of ours, s: all of the operator's 2.4, the recorder and the pusher, with git 0.1, ",
        ),
    ],
)
def test_a_goal_that_is_missed_is_told_with_its_noise_and_where_that_comes_from(
    table: Table, missed: list[str], cause: str
) -> None:
    lines = told(verdicts([table]))
    heads = [line for line in lines if line.startswith("MISSED: ")]

    for what in missed:
        (line,) = (line for line in heads if what in line)
        assert "(runs lie 0% apart" in line or "(one run" in line
        assert lines[lines.index(line) + 1].startswith("  ")
    assert any(cause in line for line in lines if line.startswith("  ")), lines


def test_one_run_of_two_that_misses_is_a_miss() -> None:
    table = Table("From the agent's end to Closed, 20 Tasks", ["p50"])
    table.add("a phase", "s", {"p50": (7.0, 8.0)})
    table.add("all", "s", {"p50": (7.0, 8.0)})

    head, why, other = told(verdicts([table]))

    assert head.startswith("MISSED: ")
    assert "7..8 s, at most 7.5 s (runs lie 13% apart)" in head
    assert why == "  the longest phases, s: a phase 7.5"
    assert other.startswith("reached: ")


def test_a_row_tells_its_goals_in_few_words() -> None:
    rows = {row.what: of_row(table, row) for table in (of_overhead(7.0),) for row in table.rows}

    assert rows["all"] == (
        "p50 at most 7.5 s: MISSED; p50 at most 8 s: reached; p95 at most 12 s: reached"
    )
    assert rows[overhead.PHASES[0]] == ""


def test_what_was_not_measured_is_not_judged() -> None:
    assert verdicts([]) == []
    assert untold([]) == []
    assert verdicts([Table("Tasks of one Job: 100 in 25 Projects", COLUMNS)]) == []


def test_a_goal_whose_row_has_another_name_or_no_figure_is_told_as_one_that_nobody_sees() -> None:
    table = Table(FOUR, [*COLUMNS, "of bare", "of minimal"])
    table.add("rate", "1/s", {"of bare": (0.8,), "of minimal": ()})
    table.add("CPU of the API server", "ms", {"of bare": (1.0,)})

    assert [line.partition(f"{FOUR}: ")[2].partition(":")[0] for line in untold([table])] == [
        "rate, of minimal",
        "operator's CPU a pod, Tasks",
        "API server's CPU, of bare",
        "Lease lost, Tasks",
    ]
