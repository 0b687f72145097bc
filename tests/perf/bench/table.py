"""What a bench has found: one table for people and for programs, every run beside the others."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Values = tuple[float, ...]
"""One figure, of every run."""
NOISE = "runs lie apart, in the median"
"""The last row of a table: of its figures in a column."""


@dataclass(frozen=True)
class Row:
    """One figure, with its unit, for each column that has it."""

    what: str
    unit: str
    cells: Mapping[str, Values]


@dataclass
class Table:
    """Rows below the names of what is compared."""

    title: str
    columns: Sequence[str]
    rows: list[Row] = field(default_factory=list)

    def add(self, what: str, unit: str, cells: Mapping[str, Values]) -> None:
        """A row, by the names of columns. KeyError for a name that is none."""
        if unknown := set(cells) - set(self.columns):
            raise KeyError(f"no column {', '.join(sorted(unknown))}")
        self.rows.append(Row(what, unit, cells))

    def noise(self, *columns: str) -> float | None:
        """The median of how far the runs of a figure lie apart, as a part of their mean, in these
        columns or in all; None: no figure has two runs."""
        spreads = [
            spread
            for row in self.rows
            for column, values in row.cells.items()
            if column in (columns or self.columns) and (spread := apart(values)) is not None
        ]
        return statistics.median(spreads) if spreads else None


def apart(values: Values) -> float | None:
    """How far values lie apart, as a part of their mean; None: they are one, or all 0."""
    mean = statistics.fmean(values) if values else 0.0
    if len(values) < 2 or mean == 0:
        return None
    return (max(values) - min(values)) / abs(mean)


def number(value: float) -> str:
    """Three digits that count: 0.0123, 1.23, 12.3, 123, 1,235."""
    if value == 0:
        return "0"
    size = abs(value)
    if size >= 100:
        return f"{value:,.0f}"
    digits = 1 if size >= 10 else 2 if size >= 1 else 3 if size >= 0.1 else 4
    text = f"{value:.{digits}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def span(values: Values, between: str = "..") -> str:
    """The least and the most of all runs; one number where they look the same."""
    if not values:
        return "-"
    least, most = number(min(values)), number(max(values))
    return least if least == most else f"{least}{between}{most}"


def ratio(of: Values, to: Values) -> Values:
    """One figure as a multiple of another, run by run; nothing where the other is 0."""
    return tuple(a / b for a, b in zip(of, to, strict=False) if b)


def as_text(tables: Sequence[Table], machine: Mapping[str, object]) -> str:
    """The tables, and what they were measured on, as lines for people."""
    lines = [f"{key}: {value}" for key, value in machine.items()]
    for table in tables:
        lines += ["", *_lines(table)]
    return "\n".join(lines) + "\n"


def as_markdown(
    tables: Sequence[Table], machine: Mapping[str, object], goals: Callable[[Table, Row], str]
) -> str:
    """The same as a page shows it, with what `goals` says of rows in a column of its own."""
    lines = [", ".join(f"{key} {value}" for key, value in machine.items())]
    for table in tables:
        cells = _cells(table, "\N{EN DASH}")
        said = [goals(table, row) for row in table.rows]
        if any(said):
            said = ["Goal", *said] + [""] * (len(cells) - 1 - len(said))
            cells = [[*row, goal] for row, goal in zip(cells, said, strict=True)]
        head, *rows = cells
        head[0] = table.title
        shown = [head, ["---"] * len(head), *([cell or "-" for cell in row] for row in rows)]
        lines += ["", *(f"| {' | '.join(row)} |" for row in shown)]
    return "\n".join(lines) + "\n"


def _cells(table: Table, between: str = "..") -> list[list[str]]:
    """The head, the rows, and how far the runs lie apart, which is the noise of the machine."""
    cells = [["", "unit", *table.columns]]
    for row in table.rows:
        shown = [span(row.cells[c], between) if c in row.cells else "" for c in table.columns]
        cells.append([row.what, row.unit, *shown])
    noise = [table.noise(column) for column in table.columns]
    if any(each is not None for each in noise):
        shown = ["" if each is None else number(round(100 * each)) for each in noise]
        cells.append([NOISE, "%", *shown])
    return cells


def _lines(table: Table) -> list[str]:
    cells = _cells(table)
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return [table.title, *(_line(row, widths) for row in cells)]


def _line(row: list[str], widths: list[int]) -> str:
    words = [
        cell.ljust(width) if index < 2 else cell.rjust(width)
        for index, (cell, width) in enumerate(zip(row, widths, strict=True))
    ]
    return "  ".join(words).rstrip()


def as_data(tables: Sequence[Table], machine: Mapping[str, object]) -> dict[str, Any]:
    """The same for programs: every run of every figure."""
    return {
        "machine": dict(machine),
        "tables": [
            {
                "title": table.title,
                "noise": table.noise(),
                "rows": [
                    {"what": row.what, "unit": row.unit, "runs": _runs(row)} for row in table.rows
                ],
            }
            for table in tables
        ],
    }


def _runs(row: Row) -> dict[str, list[float]]:
    return {column: list(values) for column, values in row.cells.items()}
