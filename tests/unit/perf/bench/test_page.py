"""The page of the reference has the tables of the bench as that prints them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

import pytest

from tests.perf.bench.goals import GOALS, of_row, untold, verdicts
from tests.perf.bench.table import NOISE, Row, Table, Values

PAGE = Path(__file__).parents[4] / "docs" / "reference" / "performance.md"
GOAL, UNIT, BETWEEN = "Goal", "unit", "\N{EN DASH}"


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def values(cell: str) -> Values:
    """One figure, or the least and the most of several runs; none where there is only a dash."""
    return () if cell == "-" else tuple(float(n.replace(",", "")) for n in cell.split(BETWEEN))


def printed() -> Iterator[tuple[Table, dict[str, str]]]:
    """Each table of the page that the bench has printed, and what it says of goals, by row."""
    lines = PAGE.read_text().splitlines()
    for is_table, rows in groupby(lines, lambda line: line.startswith("|")):
        head, *others = map(cells, rows) if is_table else [[""]]
        if head[1:2] != [UNIT]:
            continue
        columns = [column for column in head[2:] if column != GOAL]
        table, said = Table(head[0], columns), dict[str, str]()
        for what, unit, *shown in others[1:]:
            found = {name: values(cell) for name, cell in zip(columns, shown, strict=False)}
            cells_told = {name: told for name, told in found.items() if told}
            table.rows.append(Row(what, unit.strip("-"), cells_told))
            said[what] = shown[-1] if head[-1] == GOAL else "-"
        yield table, said


PRINTED = list(printed())


def test_each_goal_is_told_on_the_page() -> None:
    tables = [table for table, _ in PRINTED]

    told = [(verdict.goal.table, verdict.goal.row) for verdict in verdicts(tables)]

    assert {(goal.table, goal.row) for goal in GOALS} == set(told)
    assert untold(tables) == []


@pytest.mark.parametrize(
    ("table", "said"), PRINTED, ids=[re.split("[:,;]", table.title)[0] for table, _ in PRINTED]
)
def test_the_page_says_of_each_figure_whether_its_goal_is_reached(
    table: Table, said: dict[str, str]
) -> None:
    rows = [row for row in table.rows if row.what != NOISE]

    assert {row.what: of_row(table, row) or "-" for row in rows} == {
        what: goal for what, goal in said.items() if what != NOISE
    }
