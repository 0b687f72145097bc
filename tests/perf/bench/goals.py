"""What a bench is to show, and a line for people on each figure that misses it."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from tests.perf.bench.table import Row, Table, Values, apart, number, span

LAST = "the last"
"""The column that has most beside it, whatever it is called."""
OTHERS = "others' part of the CPU"
OF_THEM = "all writes: "
"""Rows of one kind of writes begin with it."""
OF_OPERATOR = "all of the operator's"
"""The row of what comes between the ends of pods and what follows from them."""
WITHOUT, WITH, FASTER = "without a cache", "with a cache", "times faster"
ALL_FILES, ONE_FOLDER = "An agent that gets all files", "An agent that gets one folder of forty"
OBJECTS = "A check that reads objects alone"
ALL = "all"
CPU = "CPU of all, but the server's"
BESIDE_ALL_FILES = "CPU, beside an agent that gets all files without a cache"
"""The row of what a cache and folders spare together."""
OF_IT = "of it, "
"""Rows of what our programs take of the phase above begin with it."""
OF_OURS = "all of ours"
"""The row of both."""
MULTIPLES = ("of bare", "of minimal", "most", "times faster")
"""Columns of goals that have a figure as a multiple of another."""


@dataclass(frozen=True)
class Goal:
    """What a figure has to be, whichever run it is taken from."""

    table: str
    """Beginning of the titles of the tables that it is for."""
    row: str
    column: str
    limit: float
    why: Callable[[Table, str], str]
    """What the table tells of where a miss comes from; it gets the column, too."""
    least: bool = False
    """The figure must not be below the limit; else, not above."""

    def holds(self, values: Values) -> bool:
        return min(values) >= self.limit if self.least else max(values) <= self.limit


@dataclass(frozen=True)
class Verdict:
    """A goal, and the figure that it is about."""

    goal: Goal
    table: Table
    row: Row
    column: str

    @property
    def holds(self) -> bool:
        return self.goal.holds(self.row.cells[self.column])

    @property
    def word(self) -> str:
        return "reached" if self.holds else "MISSED"

    @property
    def unit(self) -> str:
        """With a space before it; empty where the figure has none."""
        return f" {self.row.unit}" if self.row.unit and self.column not in MULTIPLES else ""

    @property
    def wanted(self) -> str:
        """`at most 13 ms`."""
        return f"at {'least' if self.goal.least else 'most'} {number(self.goal.limit)}{self.unit}"

    def lines(self) -> list[str]:
        """Whether it is reached, and how far the runs lie apart; below it, where it is missed, what
        that comes from."""
        table, values = self.table, self.row.cells[self.column]
        noise = "one run" if len(values) < 2 else f"runs lie {apart(values) or 0:.0%} apart"
        others = _row(table, OTHERS)
        if others is not None:
            most = max(max(each) for each in others.cells.values())
            noise += f", others used up to {number(most)}% of the CPU"
        what = f"{table.title}: {self.row.what}, {self.column}"
        line = f"{self.word}: {what}: {span(values)}{self.unit}, {self.wanted} ({noise})"
        return [line] if self.holds else [line, f"  {self.goal.why(table, self.column)}"]


def verdicts(tables: Sequence[Table]) -> list[Verdict]:
    """One for each goal that the tables tell something of."""
    return [verdict for goal in GOALS for verdict in _verdicts_of(goal, tables)]


def untold(tables: Sequence[Table]) -> list[str]:
    """A line for each goal of which the tables that it is for tell nothing: what nobody can see is
    not reached."""
    lines = []
    for goal in GOALS:
        its = [table for table in tables if table.title.startswith(goal.table)]
        if its and not _verdicts_of(goal, its):
            what = f"{its[0].title}: {goal.row}, {_column(goal, its[0])}"
            lines.append(f"UNTOLD: {what}: no run has told it")
    return lines


def _verdicts_of(goal: Goal, tables: Sequence[Table]) -> list[Verdict]:
    """One for each of the tables that tells its figure."""
    found = []
    for table in tables:
        row = _row(table, goal.row) if table.title.startswith(goal.table) else None
        column = _column(goal, table)
        if row is not None and row.cells.get(column):
            found.append(Verdict(goal, table, row, column))
    return found


def _column(goal: Goal, table: Table) -> str:
    return table.columns[-1] if goal.column == LAST else goal.column


def told(found: Iterable[Verdict]) -> list[str]:
    """All of their lines."""
    return [line for verdict in found for line in verdict.lines()]


def of_row(table: Table, row: Row) -> str:
    """The goals of a row in few words, for a cell."""
    about = [each for each in verdicts([table]) if each.row is row]
    return "; ".join(f"{each.column} {each.wanted}: {each.word}" for each in about)


def _row(table: Table, what: str) -> Row | None:
    return next((row for row in table.rows if row.what == what), None)


# --- where it comes from


def _mean(table: Table, what: str, column: str) -> float | None:
    row = _row(table, what)
    values = row.cells.get(column, ()) if row is not None else ()
    return statistics.fmean(values) if values else None


def _beside_bare(table: Table, column: str) -> str:
    """Whose CPU a Task takes beyond what its Jobs take alone, the most first."""
    beside = "minimal Jobs" if column == "of minimal" else "bare Jobs"
    more = {}
    for row in table.rows:
        who, _, rest = row.what.partition("'s CPU")
        if not rest and who != row.what and "Tasks" in row.cells:
            alone = _mean(table, row.what, beside) or 0.0
            more[who] = (_mean(table, row.what, "Tasks") or 0.0) - alone
    parts = [f"{who} {_signed(ms)}" for who, ms in sorted(more.items(), key=_by_size)]
    asked = [_mean(table, "requests to the API server", each) for each in ("Tasks", beside)]
    known = ["?" if each is None else number(each) for each in asked]
    return (
        f"CPU of a Task beyond that of {beside}, ms: {', '.join(parts)}; "
        f"requests {known[0]} instead of {known[1]}; `samples` tells what for"
    )


def _by_size(part: tuple[str, float]) -> float:
    return -part[1]


def _signed(value: float) -> str:
    return f"{'+' if value > 0 else ''}{number(value)}"


def _of_the_operator(table: Table, _: str) -> str:
    said = {
        what: _mean(table, what, "Tasks")
        for what in ("reconciles", "operator's reads", "operator's writes", "operator's Events")
    }
    told = ", ".join(f"{what} {number(n)}" for what, n in said.items() if n is not None)
    return f"of a Task: {told}; `samples` tells what for, `profile` in which function"


def _by_reconciles(table: Table, _: str) -> str:
    few, most = table.columns[0], table.columns[-2]
    told = []
    for row in table.rows:
        if row.what.startswith("reconciles for "):
            counts = [number(statistics.fmean(row.cells[column])) for column in (few, most)]
            told.append(f"{row.what} {' and '.join(counts)}")
    return (
        f"where {few} and where {most}: {'; '.join(told)}; if they are as many, each has become "
        "dearer"
    )


def _beside_none(table: Table, column: str) -> str:
    none, count = table.columns[0], int(column.split()[0].replace(",", ""))
    told = []
    for what, unit, times in (
        ("memory at rest", "KB", 1000.0),
        ("most memory seen", "KB", 1000.0),
        ("restart until settled", "ms", 1000.0),
    ):
        alone, all_of_them = (_mean(table, what, each) for each in (none, column))
        if alone is not None and all_of_them is not None:
            each = times * (all_of_them - alone) / max(count, 1)
            told.append(f"{what}: {number(alone)} beside none, {number(each)} {unit} for each Task")
    return "; ".join(told)


def _which_writes(table: Table, column: str) -> str:
    rows = (row for row in table.rows if row.what.startswith(OF_THEM))
    told = [f"{row.what.removeprefix(OF_THEM)} {span(row.cells[column])}" for row in rows]
    return f"all writes of such a life, Lease and Events aside: {', '.join(told)}"


def _longest_phases(table: Table, column: str) -> str:
    phases = {
        row.what: statistics.fmean(row.cells[column])
        for row in table.rows
        if not row.what.startswith(("all", OF_IT))
    }
    longest = sorted(phases.items(), key=_by_size)[:3]
    return "the longest phases, s: " + ", ".join(f"{what} {number(s)}" for what, s in longest)


def _ours(table: Table, column: str) -> str:
    parts = (row for row in table.rows if row.what == OF_OPERATOR or row.what.startswith(OF_IT))
    told = [
        f"{row.what.removeprefix(OF_IT)} {number(statistics.fmean(row.cells[column]))}"
        for row in sorted(parts, key=lambda row: row.what != OF_OPERATOR)
    ]
    return f"of ours, s: {', '.join(told)}"


def _of_a_checkout(table: Table, _: str) -> str:
    rows = (row for row in table.rows if row.what.startswith(OF_IT))
    told = (f"{row.what.removeprefix(OF_IT)} {span(row.cells.get(WITH, ()))}" for row in rows)
    return f"with a cache, s: {', '.join(told)}"


_FOUR = "Tasks of four Jobs:"
_BESIDE = "A Task beside others of its Project"
_CLOSED = "Closed Tasks with their sessions"
_OVERHEAD = "From the agent's end to Closed"
GOALS = (
    Goal(_FOUR, "rate", "of bare", 0.7, _beside_bare, least=True),
    Goal(_FOUR, "rate", "of minimal", 0.45, _beside_bare, least=True),
    Goal(_FOUR, "operator's CPU a pod", "Tasks", 13, _of_the_operator),
    Goal(_FOUR, "API server's CPU", "of bare", 1.5, _beside_bare),
    Goal("Tasks of", "Lease lost", "Tasks", 0, _of_the_operator),
    Goal(_BESIDE, "operator's CPU for a new Task", "most", 1.5, _by_reconciles),
    Goal(_BESIDE, "operator's CPU for one that passes", "most", 1.5, _by_reconciles),
    Goal(_BESIDE, "Lease lost", "most", 0, _by_reconciles),
    Goal(_CLOSED, "most memory seen", LAST, 250, _beside_none),
    Goal(_CLOSED, "restart until settled", LAST, 10, _beside_none),
    Goal(_CLOSED, "Lease lost", LAST, 0, _beside_none),
    *(
        Goal(_CLOSED, row, LAST, 0, _which_writes)
        for row in ("writes at a restart", "writes at rest", "writes when it looks at all again")
    ),
    # Set when fewer gates were on by default; and with those that are on now.
    Goal(_OVERHEAD, "all", "p50", 7.5, _longest_phases),
    Goal(_OVERHEAD, "all", "p50", 8, _longest_phases),
    Goal(_OVERHEAD, "all", "p95", 12, _longest_phases),
    Goal(_OVERHEAD, OF_OURS, "p50", 2, _ours),
    Goal(OBJECTS, CPU, FASTER, 5, _of_a_checkout, least=True),
    Goal(ONE_FOLDER, BESIDE_ALL_FILES, FASTER, 5, _of_a_checkout, least=True),
)
"""Those of the reference sizes; with smaller ones they are easier to reach."""
