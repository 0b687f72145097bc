"""Stacks of functions that were found at work: what they were at work for, and in which package."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from tests.perf.bench.table import Table, Values

REST = "the rest"
ALL = "all"
MORE = "more"
"""The column of what the first has beyond the second."""
MOST_PACKAGES = 25


@dataclass(frozen=True)
class Stack:
    """Milliseconds of CPU, and the functions that were at work, the innermost first."""

    ms: float
    functions: tuple[str, ...]


@dataclass(frozen=True)
class Work:
    """Something that CPU is used for: known by functions, each of which must be on the stack."""

    name: str
    functions: tuple[str, ...]
    """Expressions, each found in one function's name."""

    def has(self, stack: Stack) -> bool:
        told = "\n".join(stack.functions)
        return all(re.search(each, told, re.MULTILINE) for each in self.functions)


def work_of(stack: Stack, works: Sequence[Work]) -> str:
    """The name of the first work that it belongs to, or REST."""
    return next((work.name for work in works if work.has(stack)), REST)


Runs = Mapping[str, Sequence[Sequence[Stack]]]
"""Of each column its runs."""


def by_work(title: str, runs: Runs, works: Sequence[Work], pieces: int) -> Table:
    """Milliseconds for each of so many pieces of work, in the order of `works`, and all of it."""
    names = [work.name for work in works]
    return _table(title, runs, pieces, lambda stack: work_of(stack, works), [*names, REST], ALL)


def by_package(title: str, runs: Runs, package: Callable[[str], str], pieces: int) -> Table:
    """The same by the packages of the innermost functions, those with most in the first column."""
    first = next(iter(runs.values()))
    found = _sums([stack for run in first for stack in run], lambda s: package(s.functions[0]))
    most = sorted(found, key=lambda name: -found[name])[:MOST_PACKAGES]
    return _table(title, runs, pieces, lambda stack: package(stack.functions[0]), most, None)


def _table(
    title: str,
    runs: Runs,
    pieces: int,
    name_of: Callable[[Stack], str],
    names: Sequence[str],
    of_all: str | None,
) -> Table:
    columns = list(runs)
    made = Table(title, [*columns, MORE] if len(columns) == 2 else columns)
    sums = {column: [_sums(run, name_of) for run in runs[column]] for column in columns}

    def add(name: str, of: Callable[[Mapping[str, float]], float]) -> None:
        cells: dict[str, Values] = {
            column: tuple(of(run) / pieces for run in sums[column]) for column in columns
        }
        if len(columns) == 2:
            one, two = (cells[column] for column in columns)
            cells[MORE] = tuple(a - b for a, b in zip(one, two, strict=True))
        made.add(name, "ms", cells)

    for name in names:
        add(name, lambda run, name=name: run.get(name, 0.0))  # type: ignore[misc]
    if of_all is not None:
        add(of_all, lambda run: sum(run.values()))
    return made


def _sums(stacks: Iterable[Stack], name_of: Callable[[Stack], str]) -> Mapping[str, float]:
    found: defaultdict[str, float] = defaultdict(float)
    for stack in stacks:
        found[name_of(stack)] += stack.ms
    return found
