"""What it costs to judge every Task that is ready, with as many files as the API takes.

It runs in the operator's own loop, on globs that users write: the worst of them may cost a few
times as much as good ones. The figures are printed (``pytest -s``) for the reference.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import UTC, datetime
from time import process_time
from types import FrameType
from typing import TYPE_CHECKING

import pytest

from bernstein.api.states import TaskState
from bernstein.core.scheduling import append_only as append_only_files
from bernstein.core.scheduling.peer import Peer
from bernstein.core.scheduling.starts import Capacity
from tests.unit.core.scheduling.schedules import obstacles

if TYPE_CHECKING:
    from _typeshed import TraceFunction

CREATED = datetime(2025, 1, 1, tzinfo=UTC)
TASKS, FILES = 1_000, 40

DEEP = "a/" * 100
Files = Callable[[int, int], str]


def good_globs(task: int, entry: int) -> str:
    return f"src/pkg{task}/mod{entry}/**/*.py"


def good_paths(task: int, entry: int) -> str:
    return f"src/pkg{task}/mod{entry}/test.py"


def half_of_each(task: int, entry: int) -> str:
    return good_globs(task, entry) if entry % 2 else good_paths(task, entry)


HOSTILE: dict[str, tuple[Files, Files]] = {
    "folders of any depth": (
        lambda task, entry: f"{'**/a*/' * 20}[!b]c{task}x{entry}",
        lambda task, entry: f"{DEEP}{task}/{entry}.c",
    ),
    "stars in a name": (
        lambda task, entry: f"{'*a' * 100}[!b]{task}x{entry}",
        lambda task, entry: f"{'a' * 200}{task}.{entry}",
    ),
    "brackets": (
        lambda task, entry: f"*{'[0-9a-zA-Z]' * 20}{task}x{entry}",
        lambda task, entry: f"{'a' * 200}{task}.{entry}",
    ),
    "nested folders": (
        lambda task, entry: f"{task}/{'a/' * 3 * entry}x",
        lambda task, entry: f"x{task}/{'a/' * 3 * entry}x",
    ),
    "globs beside paths": (
        lambda task, entry: f"*{task}x{entry}/q" if entry % 2 else f"{task}/{entry}.c",
        lambda _, entry: f"zz/{entry}.d",
    ),
}
"""Files of the Tasks that are ready, and of those that run."""


def peer(number: int, state: TaskState, files: Files) -> Peer:
    return Peer(
        name=f"task-{number}",
        plan="p",
        state=state,
        priority=2,
        batch=False,
        created=CREATED,
        files=tuple(files(number, entry) for entry in range(FILES)),
        agent="a",
        provider="demo",
        tried=None,
        ready=state is TaskState.OPEN,
    )


def tasks(count: int, ready: Files, running: Files | None = None) -> list[Peer]:
    """All ready, or half of them running."""
    return [
        peer(n, TaskState.IN_PROGRESS, running)
        if running is not None and n % 2
        else peer(n, TaskState.OPEN, ready)
        for n in range(count)
    ]


def seconds(peers: list[Peer]) -> float:
    """CPU time of the quickest of three."""
    found = []
    for _ in range(3):
        begin = process_time()
        obstacles(peers, Capacity(TASKS, {}))
        found.append(process_time() - begin)
    return min(found)


def operations(peers: list[Peer]) -> tuple[int, int]:
    """How many of Python's operations it takes, and how many Tasks may start."""
    count = 0

    def note(frame: FrameType, event: str, _: object) -> TraceFunction:
        nonlocal count
        count += event == "opcode"
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        return note

    before = sys.gettrace()
    sys.settrace(note)
    try:
        reasons = obstacles(peers, Capacity(TASKS, {}))
    finally:
        sys.settrace(before)
    return count, sum(reason is None for reason in reasons.values())


@pytest.mark.parametrize("files", [good_paths, good_globs, half_of_each])
def test_cost_grows_as_the_number_of_tasks_does(files: Files) -> None:
    small, _ = operations(tasks(TASKS // 16, files))
    large, started = operations(tasks(TASKS, files))
    print(f"\n{TASKS} Tasks with {FILES} files each, {files.__name__}: {large:,} operations")
    assert started == TASKS
    assert large < 2 * 16 * small, "each with each would cost 256 times as much"


@pytest.fixture(scope="module")
def good() -> float:
    return seconds(tasks(TASKS, good_globs))


@pytest.mark.parametrize("kind", HOSTILE)
def test_the_worst_files_cost_a_few_times_as_much_as_good_ones(kind: str, good: float) -> None:
    hostile = seconds(tasks(TASKS, *HOSTILE[kind]))
    print(f"\n{kind}: {hostile:.2f} s, {hostile / good:.1f} times as much")
    assert hostile < 10 * good


def seconds_within(declared: Files, append_only: tuple[str, ...]) -> float:
    """CPU time of telling what of a hundred Tasks' files is held; of the quickest of three."""
    lists = [tuple(declared(task, entry) for entry in range(FILES)) for task in range(100)]
    found = []
    for _ in range(3):
        append_only_files.held.cache_clear()
        begin = process_time()
        for files in lists:
            append_only_files.held(files, append_only)
        found.append(process_time() - begin)
    return min(found)


def test_the_worst_append_only_globs_cost_no_more_than_their_steps() -> None:
    """Matched to the end they would cost over a thousand times as much as good ones."""
    good = seconds_within(good_globs, ("CHANGELOG.md", "**/NEWS.md", "migrations/**"))
    hostile = seconds_within(
        lambda task, entry: f"{'*/' * 100}{task}/{entry}*",
        tuple(f"{'**/a*/' * 20}{number}*" for number in range(FILES)),
    )
    print(f"\nappend-only: {hostile * 10:.2f} ms a Task, {hostile / good:.1f} times as much")
    assert hostile < 150 * good
