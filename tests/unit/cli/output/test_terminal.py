"""What people read is cut where they read it, and nowhere else."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from bernstein.api.plan import Plan
from bernstein.api.requests import VERIFY, Answer
from bernstein.api.task import Task
from bernstein.cli.commands import verify
from bernstein.cli.commands.doctor import finding, work
from bernstein.cli.manifests import Checked
from bernstein.cli.output import details, plan_files, tables, views
from bernstein.cli.output.terminal import Terminal
from bernstein.cli.plan_source import PlanFile
from bernstein.cli.settings import CliSettings
from bernstein.core.plans.field_errors import FieldError, FieldErrors
from tests.unit.cli.output.test_tables import asks_about
from tests.unit.cli.scenes import move, plan, running_tasks, task, terminal, verification

LONG = "Add RateLimiter middleware"


@pytest.mark.parametrize("columns", ["40", "80"])
def test_in_a_pipe_nothing_of_a_table_is_cut(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, columns: str
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    piped = Terminal(CliSettings())

    piped.show(tables.steps_table(plan(), running_tasks(), {}))
    piped.show(tables.task_table(running_tasks(), piped.people))
    piped.show(tables.plan_table([plan()], piped.people, namespaces=True))

    shown = capsys.readouterr().out
    assert "…" not in shown
    assert shown.count(LONG) == 2, "the table of Tasks has their titles, too"
    assert all(task.metadata.name in shown for task in running_tasks())
    assert "NAMESPACE" in shown
    assert max(map(len, shown.splitlines())) < 400


LAST = "the very last word"
WAIT = {
    "reason": "Unschedulable",
    "message": f"{'5 nodes have taint team-5, ' * 23}{LAST}",
    "since": "2030-01-01T12:00:00Z",
    "needsPerson": True,
}
SAID = f"{'I cannot go on. ' * 25}{LAST}"
ROWS = "\n".join(f"src/file_{number:02}.py:1: F401 {'unused ' * 6}" for number in range(30))
CHECK = {"kind": "gate", "name": "lint", "verdict": "Failed", "excerpt": ROWS, "required": True}
ERRORS = tuple(FieldError(f"stages[{number}].name", "is wrong") for number in range(80))


def _waits() -> Task:
    return task(0, state="Open", waiting=WAIT)


def _refused() -> Task:
    """What it waits for points at what a git server has said."""
    words = {"reason": "PushRejected", "message": f"it was refused:\n> {SAID}"}
    pointing = WAIT | {"reason": "PushRejected", "message": "no; status.delivery has its words"}
    return task(0, state="Done", waiting=pointing, delivery={"state": "Pending"} | words)


def _failed(to: Terminal) -> None:
    moved = [move("Failed", "GateFailed", attempt=1, seconds=3)]
    failed = task(0, state="Failed", attempt=1, feedback=ROWS, history=moved)
    views.say(to, datetime.now(UTC), views.sentence(failed.status.history[0], failed))


def _judged(to: Terminal) -> None:
    details.tell_verdicts(to, task(0, verification=verification(passed=False, checks=[CHECK])))


def _not_judged(to: Terminal) -> None:
    words = {"id": "r-1", "by": "ann", "asked": "once more", "answer": "Done", "reason": VERIFY}
    answer = Answer(verb=VERIFY, time=datetime.now(UTC), **words)
    verify.tell(to, task(0, verification=verification(), waiting=WAIT), answer, wait=True)


def _needs_a_person(to: Terminal) -> None:
    finding.tell(to, work.by_cause([_waits()]))


def _titled() -> Plan:
    found = plan()
    first, *others = found.spec.stages
    step, *more = first.steps
    step = step.model_copy(update={"title": f"{'word ' * 50}{LAST}"})
    first = first.model_copy(update={"steps": (step, *more)})
    spec = found.spec.model_copy(update={"stages": (first, *others)})
    return found.model_copy(update={"spec": spec})


def _asked(to: Terminal) -> None:
    because = [f"{'word ' * 50}{number}" for number in range(7)]
    asked = asks_about("work", title="x", because=[*because, LAST])
    to.show(tables.approval_table([asked], to.people))


def _described(to: Terminal) -> None:
    to.show(tables.description("word " * 600 + LAST, to.people))


Show = Callable[[Terminal], None]
LONG_ONES: dict[str, tuple[Show, str]] = {
    "a row of a Plan's steps": (
        lambda to: to.show(tables.steps_table(plan(), [_waits()], {})),
        LAST,
    ),
    "a step's title": (lambda to: to.show(tables.steps_table(_titled(), [], {})), LAST),
    "why a person is asked": (_asked, LAST),
    "a description": (_described, LAST),
    "what a check printed, of a failure": (_failed, "file_10.py"),
    "what a check printed, with its verdict": (_judged, "file_10.py"),
    "what a git server said": (lambda to: details.tell_task(to, _refused()), LAST),
    "what needs a person": (_needs_a_person, LAST),
    "why work is not judged": (_not_judged, LAST),
    "a sentence": (lambda to: to.say("word " * 1500 + LAST), LAST),
    "a line as it is": (lambda to: to.quote("word " * 1500 + LAST), LAST),
    "what is wrong with a file": (
        lambda to: plan_files.refuse(to, PlanFile("plan.yaml", None, FieldErrors()), ERRORS),
        "stages[79].name",
    ),
    "what is wrong with one of many files": (
        lambda to: plan_files.tell_checked(to, [Checked("plan.yaml", (), ERRORS, ())]),
        "stages[79].name",
    ),
}


@pytest.mark.parametrize("what", LONG_ONES)
def test_in_a_pipe_the_last_word_of_what_is_long_is_there(
    capsys: pytest.CaptureFixture[str], what: str
) -> None:
    show, last = LONG_ONES[what]

    show(Terminal(CliSettings()))

    told = capsys.readouterr()
    assert last in told.out + told.err
    assert "…" not in told.out + told.err


def test_a_wait_is_told_to_its_end_in_a_log(capsys: pytest.CaptureFixture[str]) -> None:
    views.LineView(Terminal(CliSettings())).update(plan(), [_waits()], {}, "")

    assert LAST in capsys.readouterr().out


@pytest.mark.parametrize("what", LONG_ONES)
def test_on_a_terminal_what_is_long_is_cut(what: str) -> None:
    show, last = LONG_ONES[what]
    to, console = terminal(width=100, tty=True)

    show(to)

    told = console.export_text()
    assert "…" in told
    assert last not in told.replace("\n", " ")


@pytest.mark.parametrize("show", [_failed, _judged])
def test_on_a_terminal_the_end_of_what_a_check_printed_is_there(show: Show) -> None:
    """For there the cause stands."""
    to, console = terminal(width=200, tty=True)

    show(to)

    told = console.export_text()
    assert "file_00.py" in told
    assert told.index("…") < told.index("file_28.py") < told.index("file_29.py")


@pytest.mark.parametrize("width", [30, 60])
def test_a_terminal_wraps_what_helps_and_keeps_commands_whole(width: int) -> None:
    shown, console = terminal(width=width, tty=True, settings=CliSettings(namespace="team"))

    shown.advise(
        "Read the failed Tasks' messages, then give them another round (`bernstein retry x`)."
    )

    rows = console.export_text().splitlines()
    assert len(rows) > 1
    assert all(row.startswith("    ") for row in rows[1:])
    assert any("(`bernstein retry x -n team`)." in row for row in rows)
    assert all(len(row) <= width or "`" in row for row in rows)


def test_a_pipe_gets_no_blanks_at_the_ends_of_lines(capsys: pytest.CaptureFixture[str]) -> None:
    shown = Terminal(CliSettings())

    shown.show(tables.steps_table(plan(), running_tasks(), {}))

    rows = capsys.readouterr().out.splitlines()
    assert len(rows) > 5
    assert [row for row in rows if row != row.rstrip()] == []
