"""How a running Plan is shown: a live table on a terminal, else a line for every change."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
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
from bernstein.api.waiting import Waiting
from bernstein.cli.output import asked, notes, tables, work
from bernstein.cli.output.terminal import Terminal, fitting, room
from bernstein.core.approvals import answers
from bernstein.core.fsm import is_final
from bernstein.core.sanitise import count, text, without_middle

_LONGEST = 1200
_ROWS = 12
"""Lines of what was printed that a terminal shows."""


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


def view(terminal: Terminal, known: Iterable[Task] = ()) -> View:
    """The view for where people read: a terminal, or a file or pipe. `known`: Tasks whose moves so
    far are no news."""
    return LiveView(terminal) if terminal.people.is_terminal else LineView(terminal, known)


class LiveView:
    """Draws the whole Plan anew, in the same place."""

    def __init__(self, terminal: Terminal) -> None:
        self._placed = terminal.settings.placed
        self._live = Live(console=terminal.people, auto_refresh=False, vertical_overflow="ellipsis")

    def update(
        self, plan: Plan, tasks: Sequence[Task], progress: Mapping[str, str], trouble: str
    ) -> None:
        parts: list[RenderableType] = [
            Text(),
            tables.headline(plan, tasks),
            Text(),
            work.table(plan, tasks, progress),
        ]
        if helps := asked.remedy(plan, *tasks):
            parts += [Text(), Text(self._placed(f"A person must {helps}."), style="yellow")]
        if trouble:
            parts += [Text(), Text(self._placed(trouble), style="yellow")]
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
    """Writes one line for every change, as logs need it; a change of state and a waiting have
    their own time."""

    def __init__(self, terminal: Terminal, known: Iterable[Task] = ()) -> None:
        self._terminal = terminal
        self._moves: set[tuple[str, datetime, str]] = set()
        self._latest: dict[str, Hashable] = {}
        self._began: dict[str, datetime] = {}
        for task in known:
            self._moved(task)

    def update(
        self, plan: Plan, tasks: Sequence[Task], progress: Mapping[str, str], trouble: str
    ) -> None:
        del progress  # it changes too often for a log
        moves = [(move, task) for task in tasks for move in self._moved(task)]
        told = [(move.time, sentence(move, task, plan)) for move, task in moves]
        if plan.status.ended_at is None:
            told += [line for task in tasks for line in self._waits(task)]
        for moment, message in sorted(told, key=lambda line: line[0]):
            say(self._terminal, moment, message)
        # Of a Plan that had ended before, nobody knows when its nodes came to that.
        was_over = "plan" not in self._latest and plan.status.ended_at is not None
        for turn in work.turns(plan):
            if self._is_new(f"node {turn.node}", turn.told) and not was_over:
                words = row("node", f"{turn.node} is {turn.told}")
                say(self._terminal, datetime.now(UTC), words)
        self._tell_plan(plan)
        if self._is_new("trouble", trouble) and trouble:
            say(self._terminal, datetime.now(UTC), trouble)

    def _tell_plan(self, plan: Plan) -> None:
        """Its phase, and what it needs a person for; what its Tasks wait for these say themselves.

        After the moves of Tasks: it follows from them.
        """
        phase, waiting = plan.status.phase or "Pending", plan.status.waiting
        message = asked.with_remedy(notes.ending(plan)[0], plan)
        detail = f": {message}" if message else ""
        stands = asked.stands_until_somebody_acts(plan)
        about = (phase, cause(waiting) if waiting is not None and stands else None)
        question = asked.question_of(plan) if asked.is_asked(plan) else None
        news = self._is_new("plan", about)
        if question is not None and self._is_new("question", question.name):
            news = True
        if news:
            moment = plan.status.ended_at
            if moment is None and waiting is not None and (stands or asked.is_asked(plan)):
                moment = self._since("plan", waiting)
            say(self._terminal, moment or datetime.now(UTC), row("plan", f"{phase}{detail}"))

    def _moved(self, task: Task) -> list[Move]:
        """The moves that are new; what it waits for behind them is told anew."""
        keys = {(task.metadata.name, m.time, m.to_state): m for m in task.status.history}
        new = [move for key, move in keys.items() if key not in self._moves]
        self._moves |= keys.keys()
        if new:
            self._latest.pop(task.metadata.name, None)
        return new

    def _waits(self, task: Task) -> Iterator[tuple[datetime, str]]:
        """What it waits for, where that is new, and since when; of what has ended nothing."""
        name, waiting = task.metadata.name, task.status.waiting
        if waiting is None or is_final(task.status, task.spec.max_retries):
            return
        if self._is_new(name, cause(waiting)):
            words = asked.with_remedy(notes.waits(waiting, task), task)
            yield self._since(name, waiting), row("waiting", f"{name}  {words}")

    def _since(self, about: str, waiting: Waiting) -> datetime:
        known, self._began[about] = self._began.get(about), waiting.since
        return began(waiting, known, datetime.now(UTC))

    def _is_new(self, about: str, same: Hashable) -> bool:
        """Whether this is another one than the last about the same thing, from now on the last."""
        if self._latest.get(about, "") == same:
            return False
        self._latest[about] = same
        return True

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        return None


def row(word: str, rest: str) -> str:
    """What happened to something, in columns; a long word moves the rest."""
    return f"{word:<11} {rest}"


def say(terminal: Terminal, moment: datetime, message: str) -> None:
    """The first line with the time, its commands completed so that they reach the same cluster;
    what was printed stands below it, line by line."""
    longest = room(terminal.people, _LONGEST)
    whole = text(message, max(longest, 4 * len(message))).rstrip()
    first, *more = without_middle(whole, longest).splitlines() or [""]
    terminal.say(f"{moment.astimezone():%H:%M:%S}  {terminal.settings.placed(first)}")
    for row in fitting(more, room(terminal.people, _ROWS)):
        terminal.quote(f"{'':<10}{row}")


def began(waiting: Waiting, known: datetime | None, now: datetime) -> datetime:
    """When it began to wait; `now` where it waited for the same reason before (`known`), in other
    words, or where an older release has not told when."""
    return now if waiting.since == known or not waiting.since.timestamp() else waiting.since


def cause(waiting: Waiting) -> Hashable:
    """What makes one waiting another than the one before: not when it is tried again, and of what
    passes by itself not for whom it waits."""
    return waiting.reason, notes.explanation(waiting)[0] if waiting.needs_person else ""


def sentence(move: Move, task: Task, plan: Plan | None = None) -> str:
    """The state that a Task moved to, its name, and what that means. `plan`: that it is of, where
    that is known."""
    word = to_snake(move.to_state)
    detail = move.reason
    match move.to_state:
        case TaskState.CLAIMED:
            detail = f"attempt {move.attempt + 1}"
        case TaskState.IN_PROGRESS:
            detail = "the agent is at work"
        case TaskState.WAITING_FOR_SUBTASKS:
            word, detail = "split", f"into {count(len(task.status.subtasks or ()), 'subtask')}"
        case TaskState.DONE:
            detail = _done(move, task)
        case TaskState.CLOSED:
            detail = notes.note(task, "", plan)
        case TaskState.FAILED if move == notes.last_failure(task) and task.status.feedback:
            detail = task.status.feedback
    return row(word, f"{task.metadata.name}  {detail}")


def _done(move: Move, task: Task) -> str:
    if move.from_state == TaskState.PENDING_APPROVAL:
        return answers.goes_on(move, task.status.verification)
    if move.from_state == TaskState.WAITING_FOR_SUBTASKS:
        return "its subtasks are Closed, what they have landed is being verified"
    return "the agent has ended, its work is being verified"
