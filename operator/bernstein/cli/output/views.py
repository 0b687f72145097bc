"""How a running Plan is shown: a live table on a terminal, else a line for every change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from types import TracebackType
from typing import Protocol, Self

from pydantic.alias_generators import to_snake
from rich.console import Group, RenderableType
from rich.live import Live
from rich.text import Text

from bernstein.api.plan import Plan
from bernstein.api.states import TaskState
from bernstein.api.task import Move, Task
from bernstein.cli.output import notes, tables
from bernstein.cli.output.terminal import Terminal
from bernstein.core.sanitise import text


class View(Protocol):
    """Shows a Plan while it is entered (`with`)."""

    def update(
        self, plan: Plan, tasks: Sequence[Task], progress: Mapping[str, str], trouble: str
    ) -> None:
        """Shows how the Plan stands.

        `progress` is what agents say that they do, by name of the Task; `trouble` is why the Plan
        cannot be watched, or "".
        """

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None: ...


def view(terminal: Terminal) -> View:
    """The view for where people read: a terminal, or a file or pipe."""
    return LiveView(terminal) if terminal.people.is_terminal else LineView(terminal)


class LiveView:
    """Draws the whole Plan anew, in the same place."""

    def __init__(self, terminal: Terminal) -> None:
        self._live = Live(console=terminal.people, auto_refresh=False, vertical_overflow="ellipsis")

    def update(
        self, plan: Plan, tasks: Sequence[Task], progress: Mapping[str, str], trouble: str
    ) -> None:
        parts: list[RenderableType] = [
            Text(),
            tables.headline(plan),
            Text(),
            tables.steps_table(plan, tasks, progress),
        ]
        if trouble:
            parts += [Text(), Text(trouble, style="yellow")]
        self._live.update(Group(*parts, Text()), refresh=True)

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._live.stop()


class LineView:
    """Writes one line for every change, as logs need it; a Task's change of state has its own
    time."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal
        self._moves: set[tuple[str, datetime, str]] = set()
        self._latest: dict[str, str] = {}

    def update(
        self, plan: Plan, tasks: Sequence[Task], progress: Mapping[str, str], trouble: str
    ) -> None:
        del progress  # it changes too often for a log
        message = notes.ending(plan)[0]
        detail = f": {message}" if message else ""
        self._once("plan", f"{'plan':<12}{plan.status.phase or 'Pending'}{detail}")
        new = [(move, task) for task in tasks for move in self._new_moves(task)]
        for move, task in sorted(new, key=lambda pair: pair[0].time):
            self._say(move.time, _sentence(move, task))
        for task in tasks:
            waiting = task.status.waiting
            told = f"{'waiting':<12}{task.metadata.name}  {notes.waits(waiting)}" if waiting else ""
            self._once(task.metadata.name, told)
        self._once("trouble", trouble)

    def _new_moves(self, task: Task) -> list[Move]:
        keys = {(task.metadata.name, m.time, m.to_state): m for m in task.status.history}
        new = [move for key, move in keys.items() if key not in self._moves]
        self._moves |= keys.keys()
        return new

    def _once(self, about: str, message: str) -> None:
        """Writes the message unless it was the last one about the same thing; "" is no message."""
        if self._latest.get(about, "") != message:
            self._latest[about] = message
            if message:
                self._say(datetime.now(UTC), message)

    def _say(self, moment: datetime, message: str) -> None:
        one_line = text(message, 400).replace("\n", " ")
        self._terminal.say(f"{moment.astimezone():%H:%M:%S}  {one_line}")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        return None


def _sentence(move: Move, task: Task) -> str:
    word = to_snake(move.to_state)
    detail = move.reason
    match move.to_state:
        case TaskState.CLAIMED:
            detail = f"attempt {move.attempt + 1}"
        case TaskState.IN_PROGRESS:
            detail = "the agent is at work"
        case TaskState.DONE:
            detail = "the agent has ended, its work is being verified"
        case TaskState.CLOSED:
            detail = notes.note(task, "")
        case TaskState.FAILED if move == notes.last_failure(task) and task.status.feedback:
            detail = task.status.feedback
    return f"{word:<12}{task.metadata.name}  {detail}"
