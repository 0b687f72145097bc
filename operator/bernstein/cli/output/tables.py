"""Tables of Plans and Tasks: 80 columns wide, one line each, with agents' words sanitised."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.measure import Measurement
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from bernstein.api.approvals.approval import Approval, Shown
from bernstein.api.meta import PLAN_KIND, UsageCounts
from bernstein.api.money import known
from bernstein.api.plan import Plan, PlanStatus
from bernstein.api.states import TaskState
from bernstein.api.task import Task, TaskStatus
from bernstein.cli.output import families
from bernstein.cli.output.notes import note, reason
from bernstein.cli.output.terminal import room
from bernstein.core.outlines import parts
from bernstein.core.plans.rows import names_by_stage
from bernstein.core.sanitise import line, text
from bernstein.core.serializers import task_status

STYLES = {
    "closed": "green",
    "done": "cyan",
    "in_progress": "blue",
    "waiting_for_subtasks": "blue",
    "claimed": "blue",
    "failed": "red",
    "orphaned": "red",
    "blocked": "red",
    "cancelled": "dim",
}
MARKS = {
    "closed": "✓",
    "done": "◆",
    "in_progress": "●",
    "waiting_for_subtasks": "●",
    "claimed": "●",
    "failed": "✗",
    "orphaned": "✗",
    "blocked": "✗",
    "cancelled": "⊘",
}
_WIDE = 120
_NARROW = 72
_NO_LIMIT = 1000
"""Columns, more than any list of Tasks has."""
_COMMIT = 8
"""Characters of a commit; `--sha` takes as few as 7."""
_LONGEST_DESCRIPTION = 1000
_LONGEST_TITLE = 300
"""What names, titles and lines of a spec may have; a terminal cuts them at its columns."""
_LONGEST_CAUSE = 300
_OF_WORK = ("COMMIT", "FILES", "LINES", "COST", "AGE")
"""Columns of a question to people, beside what it is about and why it is asked."""
_LEFT_OUT = ("LINES", "FILES", "COMMIT", "COST", "AGE")
"""In which order they are left out where there is no room."""
_LEAST = 18
"""Columns of a terminal that a text needs to say something, with the space beside it."""
OF_NO_STEP = "beside its steps"
"""Above Tasks that are of no step: those that resolve conflicts, or answer a pull request."""


def task_table(tasks: Sequence[Task], console: Console, *, namespaces: bool = False) -> Table:
    """One line per Task; with its role and its title where the terminal is wide. Where it is too
    narrow for all, the tries are left out, then names are cut: reasons are what people look up."""
    table = _task_table(tasks, console, namespaces=namespaces, tries=True)
    if table.expand or _fits(table, console):
        return table
    table = _task_table(tasks, console, namespaces=namespaces, tries=False)
    table.padding = (0, 0, 0, 0)
    return table


def _task_table(tasks: Sequence[Task], console: Console, *, namespaces: bool, tries: bool) -> Table:
    wide = console.width >= _WIDE
    table = empty(expand=wide, namespaces=namespaces)
    # The only column that may wrap is the only one that is made narrower; its text does not wrap.
    table.add_column("ID", min_width=20)
    table.add_column("STATUS", no_wrap=True)
    table.add_column("REASON", no_wrap=True, overflow="ellipsis")
    if tries:
        table.add_column("TRY", justify="right", no_wrap=True)
    table.add_column("COST", justify="right", no_wrap=True)
    if wide:
        table.add_column("ROLE", no_wrap=True, overflow="ellipsis", max_width=12)
        table.add_column("TITLE", no_wrap=True, overflow="ellipsis", ratio=6)
    for depth, task in families.of_tasks(tasks):
        word = task_status(task)
        name = f"{below(depth)}{task.metadata.name}"
        cells = [
            *_namespace(task.metadata.namespace, namespaces),
            Text(name, no_wrap=True, overflow="ellipsis"),
            Text(word, style=STYLES.get(word, "")),
            Text(reason(task.status.waiting)),
            *([Text(str(task.status.attempt))] if tries else []),
            Text(spent(task.status)),
        ]
        more = [Text(line(task.spec.role, 63)), Text(line(task.spec.title, _LONGEST_TITLE))]
        table.add_row(*cells, *(more if wide else []))
    return table


def plan_table(plans: Sequence[Plan], console: Console, *, namespaces: bool = False) -> Table:
    """One line per Plan; with its namespace where they are of several. Where the terminal is too
    narrow for all, stages are left out, then names are cut: reasons are what people look up. Where
    there is little room for these, what a Plan costs is left out, too."""
    table = _plan_table(plans, namespaces=namespaces, stages=True, costs=True)
    if _fits(table, console):
        return table
    costs = not namespaces or console.width >= _NARROW
    table = _plan_table(plans, namespaces=namespaces, stages=False, costs=costs)
    if not _fits(table, console):
        table.padding = (0, 0, 0, 0)
    return table


def _plan_table(plans: Sequence[Plan], *, namespaces: bool, stages: bool, costs: bool) -> Table:
    table = empty(namespaces=namespaces)
    table.add_column("PLAN", min_width=8)
    table.add_column("PHASE", no_wrap=True)
    table.add_column("REASON", no_wrap=True, overflow="ellipsis")
    if stages:
        table.add_column("STAGE", no_wrap=True, overflow="ellipsis", max_width=12)
    table.add_column("CLOSED", justify="right", no_wrap=True)
    if costs:
        table.add_column("COST", justify="right", no_wrap=True)
    table.add_column("AGE", justify="right", no_wrap=True)
    for plan in plans:
        counts, phase = plan.status.counts, plan.status.phase or "Pending"
        table.add_row(
            *_namespace(plan.metadata.namespace, namespaces),
            Text(plan.metadata.name, no_wrap=True, overflow="ellipsis"),
            Text(phase, style=_phase_style(phase)),
            Text(reason(plan.status.waiting)),
            *([Text(line(plan.status.current_stage or "", _LONGEST_TITLE))] if stages else []),
            Text(f"{counts.closed}/{counts.total}"),
            *([Text(spent(plan.status))] if costs else []),
            Text(_age(plan.metadata.creation_timestamp)),
        )
    return table


def approval_table(
    approvals: Sequence[Approval], console: Console, *, namespaces: bool = False
) -> Table:
    """One line for each question to people. Where the terminal is too narrow for all, columns are
    left out, those first of which more is told elsewhere, before a name is cut."""
    for left_out in range(len(_LEFT_OUT) + 1):
        columns = [column for column in _OF_WORK if column not in _LEFT_OUT[:left_out]]
        table = _approval_table(approvals, console, columns, namespaces=namespaces, because=False)
        if leaves_room(table, console):
            break
    return _approval_table(approvals, console, columns, namespaces=namespaces, because=True)


def _approval_table(
    approvals: Sequence[Approval],
    console: Console,
    columns: Sequence[str],
    *,
    namespaces: bool,
    because: bool,
) -> Table:
    table = empty(namespaces=namespaces)
    table.add_column("KIND", no_wrap=True)
    table.add_column("NAME", no_wrap=True, overflow="ellipsis", min_width=20)
    for column in columns:
        table.add_column(column, justify="left" if column == "COMMIT" else "right", no_wrap=True)
    if because:
        add_cut_column(table, "BECAUSE")
    for approval in approvals:
        shown, about = approval.status.shown, approval.spec.subject
        files = shown.files_changed if shown is not None else None
        cells = {
            "AGE": _age(approval.metadata.creation_timestamp),
            "COST": _asked_cost(shown, about.kind),
            "COMMIT": (approval.spec.asks.sha or "")[:_COMMIT],
            "FILES": "" if files is None else str(files),
            "LINES": _lines(shown),
        }
        why = "; ".join(shown.because) if shown is not None else ""
        table.add_row(
            *_namespace(approval.metadata.namespace, namespaces),
            Text(about.kind.lower()),
            Text(about.name),
            *(Text(cells[column]) for column in columns),
            *([cut(line(why, room(console, _LONGEST_CAUSE)))] if because else []),
        )
    return table


def _asked_cost(shown: Shown | None, kind: str) -> str:
    """What work has cost, or about what a Plan is to cost."""
    if shown is None:
        return ""
    is_estimate = kind == PLAN_KIND and shown.cost_usd is not None
    return f"{'~' * is_estimate}{cents(shown.cost_usd)}"


def _lines(shown: Shown | None) -> str:
    """Lines that are new and gone; with "…" where those of some files are not counted."""
    files = shown.most_changed if shown is not None else None
    if shown is None or not files:
        return ""
    added, deleted = (sum(getattr(f, s) or 0 for f in files) for s in ("added", "deleted"))
    all_of_it = len(files) == shown.files_changed and all(f.added is not None for f in files)
    return f"+{added} -{deleted}{'' if all_of_it else ' …'}"


def steps_table(plan: Plan, tasks: Iterable[Task], progress: Mapping[str, str]) -> Table:
    """Every step of a Plan below its stage, what it was split into below the step, and below them
    Tasks that are of none.

    `progress` is what agents say that they do, by name of the Task.
    """
    by_name = {task.metadata.name: task for task in tasks}
    names, split = names_by_stage(plan, by_name.values()), parts.by_parent(plan.status)
    table = empty(header=False, expand=True)
    table.add_column("step", no_wrap=True, overflow="ellipsis", ratio=1)
    table.add_column("status", no_wrap=True, min_width=11)
    table.add_column("note", no_wrap=True, overflow="ellipsis", ratio=1)
    table.add_column("cost", justify="right", no_wrap=True, min_width=5)
    for stage in plan.spec.stages:
        table.add_row(Text(line(stage.name, _LONGEST_TITLE), style="bold"))
        for name, step in zip(names[stage.name], stage.steps, strict=True):
            task = by_name.get(name)
            table.add_row(*step_cells(step.heading, task, progress.get(name, ""), plan))
            for depth, row in parts.below(split, name):
                table.add_row(*_extra_cells(row.name, by_name, progress, plan, depth))
    extra = [row for row in plan.status.extra if row.parent is None]
    if extra:
        table.add_row(Text(OF_NO_STEP, style="bold"))
    for row in extra:
        table.add_row(*_extra_cells(row.name, by_name, progress, plan))
    return table


def _extra_cells(
    name: str,
    by_name: Mapping[str, Task],
    progress: Mapping[str, str],
    plan: Plan,
    depth: int = 0,
) -> tuple[Text, ...]:
    task = by_name.get(name)
    title = name if task is None else task.spec.title
    return step_cells(title, task, progress.get(name, ""), plan, depth)


def below(depth: int) -> str:
    """What stands before a subtask, which is so deep below the Task that was split."""
    return f"{'  ' * (depth - 1)}└ " if depth else ""


def step_cells(
    title: str, task: Task | None, progress: str, plan: Plan, depth: int = 0
) -> tuple[Text, ...]:
    """A row for a step, or a Task that is of none: title, status, note and cost. `depth`: of a
    subtask how far it is below the step."""
    mark = f"  {below(depth)}"
    if task is None:
        return (Text(f"{mark}○ {line(title, _LONGEST_TITLE)}", style="dim"), *[Text()] * 3)
    word = task_status(task)
    style = STYLES.get(word, "")
    return (
        Text(f"{mark}{MARKS.get(word, '○')} {line(title, _LONGEST_TITLE)}", style=style),
        Text(word.replace("_", " "), style=style),
        Text(note(task, progress, plan), style="dim"),
        Text(spent(task.status, zero="")),
    )


def headline(plan: Plan, tasks: Sequence[Task] = ()) -> Text:
    """Phase, tasks, time and money of a Plan. `tasks`: those that are shown below it, of which more
    may have closed since the Plan's status was written."""
    status = plan.status
    phase = status.phase or "Pending"
    shown = Text.assemble((plan.metadata.name, "bold"), "  ", (phase, _phase_style(phase)))
    counts = status.counts
    parts = [f"{_closed(plan, tasks)}/{counts.total} closed"] if counts.total else []
    money = spent(status)
    budget = f" of {cents(plan.spec.budget)}" if plan.spec.budget else ""
    parts += [f"{money}{budget}", _elapsed(status.started_at, status.ended_at)]
    shown.append("".join(f" · {part}" for part in parts if part))
    return shown


def _closed(plan: Plan, tasks: Sequence[Task]) -> int:
    """Who is gone counts as its row says; a Task that was read counts as it is."""
    if not tasks or not plan.status.tasks or plan.status.workflow is not None:
        return plan.status.counts.closed
    read = {task.metadata.name: task.status.state for task in tasks}
    rows = plan.status.tasks
    return sum(read.get(row.name, row.state) == TaskState.CLOSED for row in rows)


def description(words: str, console: Console) -> Padding:
    """A Plan's description, for below its headline and as wide as the terminal."""
    shown = Text(text(words, room(console, _LONGEST_DESCRIPTION)), style="dim")
    return Padding(shown, (0, 0, 0, 2), expand=False)


def spent(status: TaskStatus | PlanStatus, *, zero: str = "$0.00") -> str:
    """What it has cost; a dash where nothing of it is known, as before the first attempt ends."""
    if _untold(status):
        return cents(None) if zero else zero
    return cents(known(status.spend_usd, status.spend_source), zero=zero)


def _untold(status: TaskStatus | PlanStatus) -> bool:
    """Whether nobody has told yet what anything of it has cost."""
    if isinstance(status, PlanStatus) and (status.counts.closed or status.counts.failed):
        return False
    told = status.spend_source is not None or status.usage != UsageCounts()
    return not told and not Decimal(status.spend_usd)


def cents(amount: str | None, *, zero: str = "$0.00") -> str:
    """An amount in whole cents; a dash where it is not known. `zero` is what no money at all is
    shown as."""
    if amount is None:
        return "–"  # noqa: RUF001 - no minus
    value = Decimal(amount)
    if not value:
        return zero
    return f"${value:.2f}" if value >= Decimal("0.01") else "<$0.01"


def _namespace(name: str, shown: bool) -> list[Text]:
    return [Text(name, no_wrap=True, overflow="ellipsis")] if shown else []


def empty(*, header: bool = True, expand: bool = False, namespaces: bool = False) -> Table:
    """A table of ours without columns and rows."""
    table = Table(
        box=SIMPLE_HEAD if header else None,
        show_header=header,
        show_edge=False,
        pad_edge=False,
        padding=(0, 1 if header else 2, 0, 0),
        expand=expand,
        header_style="dim",
    )
    if namespaces:
        # Like names it may wrap, so that it is made narrower first; its text does not.
        table.add_column("NAMESPACE", min_width=9)
    return table


def add_cut_column(table: Table, heading: str) -> None:
    """A column that is made narrower before any other: the only one that may wrap, of cells that do
    not (see `cut`)."""
    table.add_column(heading, min_width=len(heading), overflow="ellipsis")


def cut(words: str) -> Text:
    """A cell of such a column."""
    return Text(words, no_wrap=True, overflow="ellipsis")


def leaves_room(table: Table, console: Console) -> bool:
    """Whether it is so narrow that a column beside it would say something."""
    unlimited = console.options.update_width(_NO_LIMIT)
    return Measurement.get(console, unlimited, table).maximum + _LEAST <= console.width


def _fits(table: Table, console: Console) -> bool:
    """Whether nothing of it has to be cut for the terminal."""
    unlimited = console.options.update_width(_NO_LIMIT)
    return Measurement.get(console, unlimited, table).maximum <= console.width


def _phase_style(phase: str) -> str:
    return {
        "Succeeded": "green",
        "Failed": "red",
        "Stalled": "red",
        "Invalid": "red",
        "Cancelled": "yellow",
        "DeliveredPartially": "yellow",
        "Suspended": "yellow",
    }.get(phase, "blue")


def _age(since: datetime | None) -> str:
    return "" if since is None else _span(int((datetime.now(UTC) - since).total_seconds()))


def _elapsed(start: datetime | None, end: datetime | None) -> str:
    if start is None:
        return ""
    seconds = int(((end or datetime.now(UTC)) - start).total_seconds())
    return f"{seconds // 60}:{seconds % 60:02}" if seconds < 3600 else _span(seconds)


def _span(seconds: int) -> str:
    for size, unit in ((86400, "d"), (3600, "h"), (60, "m")):
        if seconds >= 2 * size:
            return f"{seconds // size}{unit}"
    return f"{max(seconds, 0)}s"
