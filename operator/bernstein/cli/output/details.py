"""Tells what happened to Tasks that need a person: attempts, verdicts, and what helps."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from bernstein.api.delivery import Delivery
from bernstein.api.meta import ConditionType
from bernstein.api.plan import Plan
from bernstein.api.project import Project
from bernstein.api.reasons import Reason
from bernstein.api.task import Attempt, Task
from bernstein.api.verification import CheckResult
from bernstein.api.waiting import Waiting
from bernstein.cli.output import asked, notes
from bernstein.cli.output.terminal import Terminal, fitting, room
from bernstein.core import conditions
from bernstein.core.approvals import answers
from bernstein.core.plans.nodes import standing
from bernstein.core.sanitise import (
    ELLIPSIS,
    count,
    cut,
    line,
    quoted,
    text,
    without_middle,
    without_quotes,
)
from bernstein.core.serializers import rejection, task_status
from bernstein.core.verification import words
from bernstein.core.waiting import is_stalled, parted

_UNLANDED = {"NoChange": "nothing to change", "Pending": "nothing is delivered yet"}
_ATTESTED = {
    "Signed": ", attestation signed",
    "OtherKey": ", attestation signed by another key than the Project names",
    "Missing": ", attestation missing",
}
MOST_MEANT = 20
"""Tasks of which it is looked for what agent or model may have been meant: it takes a moment."""
_EXCERPT = 1200
_SUMMARY = 512
_ROWS = 40
FIRST_ROWS = 5
"""Of the words of a verdict, where it is one thing among others."""
_REPORTED = "Succeeded"
"""Of an attempt: its agent says so; what its work is worth the verdicts tell."""


def tell_standing(
    terminal: Terminal, plan: Plan, tasks: Sequence[Task], left: Sequence[str] = ()
) -> None:
    """Tells how a Plan ended, what stops it or what it does, and which Tasks to look at. `left`:
    how to have the work of what was cancelled."""
    if not_seen := notes.unseen(plan, datetime.now(UTC)):
        terminal.say(terminal.settings.placed(not_seen), "yellow")
        return
    succeeded = conditions.find(plan.status.conditions, ConditionType.SUCCEEDED)
    if succeeded is not None or is_stalled(plan.status):
        good = succeeded is not None and succeeded.status == "True"
        tell_ending(terminal, plan, tasks, left, good=good)
        return
    message, _ = notes.ending(plan)
    if message:
        terminal.say(terminal.settings.placed(message))
    _tell_deliveries(terminal, plan, tasks)
    _tell_questions(terminal, tasks, message)
    if helps := asked.remedy(plan, *tasks):
        terminal.advise(helps)
    for how in left:
        terminal.advise(how)
    tell_tasks(terminal, plan, tasks, message)


def _tell_questions(terminal: Terminal, tasks: Iterable[Task], told: str) -> None:
    """Tells what each Task asks people, but for the one whose question was `told`."""
    for task in filter(asked.is_asked, tasks):
        name, waiting = task.metadata.name, task.status.waiting
        if waiting is not None and f"'{name}'" not in told:
            terminal.advise(f"{name}: {notes.waits(waiting, task)}")


def tell_ending(
    terminal: Terminal,
    plan: Plan,
    tasks: Sequence[Task],
    left: Sequence[str] = (),
    *,
    good: bool,
) -> None:
    """Tells how a Plan ended: what it delivered, or why not and which Tasks to look at."""
    message, remedy = notes.ending(plan)
    phase = plan.status.phase or ("Succeeded" if good else "Failed")
    mark, style = ("✓", "green") if good else ("✗", "red")
    shown = terminal.settings.placed(message)
    terminal.say(f"{mark} {phase}{': ' if message else ''}{shown}", style)
    _tell_deliveries(terminal, plan, tasks)
    if remedy and not good:
        terminal.advise(remedy)
    if further := notes.how_it_goes_on(plan):
        terminal.advise(further)
    if not good and (helps := asked.remedy(*tasks)):
        terminal.advise(helps)
    for how in left:
        terminal.advise(how)
    if not good:
        _tell_whole(terminal, plan)
    tell_tasks(terminal, plan, tasks, f"{message} {remedy}")


def _tell_deliveries(terminal: Terminal, plan: Plan, tasks: Sequence[Task]) -> None:
    """Tells how far its work is on its way in each of its repositories; where each Task brings its
    own, how far that of each is."""
    by_task = notes.landings(plan, tasks)
    shown = room(terminal.people, _ROWS)
    for name, delivery in by_task[:shown]:
        _tell_delivery(terminal, delivery, f"{name}: ")
    if len(by_task) > shown:
        terminal.say(f"  … and {len(by_task) - shown} more")
    if by_task:
        return
    for row in plan.status.repositories:
        _tell_delivery(terminal, row.delivery, f"{row.name}: ")
    if not plan.status.repositories:
        _tell_delivery(terminal, plan.status.delivery)


def _tell_delivery(terminal: Terminal, delivery: Delivery | None, where: str = "") -> None:
    """Tells what has landed, which pull request has the work, and what the forge says of it.
    `where`: the repository, of a Plan that works in several; the Task, where each has its own."""
    if delivery is None:
        if where:
            terminal.say(f"  {where}nothing is delivered")
        return
    if delivery.state == "Merged" and delivery.sha:
        attested = _ATTESTED.get(delivery.attestation or "", "")
        if attested and delivery.reason == Reason.ATTESTATION_REFUSED:
            attested += ": the git server takes none"
        # What people merge may be another commit there, such as of a squash.
        at = "on" if delivery.pull_request is None else "merged into"
        terminal.say(f"  {where}{delivery.sha[:12]} {at} {delivery.onto or 'the branch'}{attested}")
    elif where and delivery.pull_request is None:
        terminal.say(f"  {where}{_UNLANDED.get(delivery.state, delivery.state)}")
    if delivery.pull_request is not None:
        terminal.quote(f"  {where}{notes.pull_request(delivery.pull_request)}")
    if (said := delivery.feedback) is not None and said.text:
        words = line(said.text, room(terminal.people, _SUMMARY))
        terminal.quote(f"  {where}went back to an agent, {count(said.times, 'time')}: {words}")


def tell_tasks(terminal: Terminal, plan: Plan, tasks: Sequence[Task], told: str = "") -> None:
    """Tells of those that need a person, and where there is more about them; `told` is what was
    said already. Runs of a workflow that have failed are told of where it has failed for them."""
    its = standing.matters(plan, plan.status)
    looked = [task for task in tasks if needs_a_look(task)]
    if its is not None:
        looked = [t for t in looked if is_stalled(t.status) or t.metadata.name in its]
    for number, task in enumerate(looked):
        tell_task(terminal, task, told, guesses=number < MOST_MEANT)
        _tell_where(terminal, task.metadata.name, _verdicts(task))
    asking = [task for task in tasks if asked.is_asked(task) and not needs_a_look(task)]
    for task in asking[: room(terminal.people, asked.SHOWN)]:
        _tell_asking(terminal, task)


def _tell_asking(terminal: Terminal, task: Task) -> None:
    """Tells the verdicts that whoever decides has to know, with the beginning of their words."""
    checks = [check for check in _verdicts(task) if words.says(check)]
    if checks:
        terminal.say("")
        terminal.say(f"{task.metadata.name}  awaits approval", "bold")
    for check in checks:
        _tell_check(terminal, check, FIRST_ROWS)


def tell_project(terminal: Terminal, project: Project) -> None:
    """Warns of a Project that is not ready: what has yet to come of its work would meet it."""
    ready = conditions.find(project.status.conditions, ConditionType.READY)
    if ready is None or ready.status != "False":
        return
    message, remedy = notes.ready_message(ready, project)
    name = project.metadata.name
    terminal.say(f"! Project '{name}' is not ready ({ready.reason}): {message}", "yellow")
    if remedy:
        terminal.advise(remedy)


def tell_plan(terminal: Terminal, plan: Plan) -> None:
    """Tells how a Plan stands, and the verdicts on what it delivers as a whole."""
    message, remedy = notes.ending(plan)
    terminal.say(f"{plan.metadata.name}  {plan.status.phase or 'Pending'}", "bold")
    for told in filter(None, (message, remedy)):
        terminal.advise(told)
    if not _verdicts(plan):
        terminal.say("  No check of what it delivers as a whole is recorded.")
    _tell_checks(terminal, plan)


def tell_verdicts(terminal: Terminal, task: Task) -> None:
    """Tells the verdicts on a Task's work, the last ones that there are."""
    terminal.say(f"{task.metadata.name}  {task_status(task)}", "bold")
    _tell_checks(terminal, task)


def _tell_whole(terminal: Terminal, plan: Plan) -> None:
    _tell_checks(terminal, plan)
    _tell_where(terminal, plan.metadata.name, _verdicts(plan))


def _tell_checks(terminal: Terminal, subject: Task | Plan) -> None:
    """Tells every verdict, the score that follows from those of gates, and who has approved it."""
    for where, judged in notes.judged(subject):
        if where and judged.checks:
            terminal.say(f"  in repository {where}:")
        for check in judged.checks:
            _tell_check(terminal, check)
        if told := notes.score(judged):
            terminal.say(f"  {told}")
    yes = answers.approval_of(subject.status) if isinstance(subject, Task) else None
    if yes is not None:
        terminal.say(f"  approved{answers.by_whom(yes.by, yes.reason)}")


def _verdicts(subject: Task | Plan) -> tuple[CheckResult, ...]:
    return tuple(check for _, judged in notes.judged(subject) for check in judged.checks)


def _tell_where(terminal: Terminal, name: str, verdicts: Iterable[CheckResult]) -> None:
    """Says where the check logs are, if there are any: only checks that execute have one."""
    if any(not _good(check) and _ran(check) for check in verdicts):
        terminal.quote(
            f"  All that its checks printed: {terminal.settings.command_line('logs', name)}"
        )


def _good(check: CheckResult) -> bool:
    return check.verdict in ("Passed", "Skipped", "Bypassed")


def _ran(check: CheckResult) -> bool:
    """Whether the check executed its command, for this very work."""
    return not check.cached and (check.seconds is not None or check.verdict == "TimedOut")


def needs_a_look(task: Task) -> bool:
    """Whether a person has to do something about this Task itself, not one that it depends on."""
    stalled = _stalled(task)
    if stalled is not None and stalled.reason != Reason.DEPENDENCY_FAILED:
        return True
    return task_status(task) in ("failed", "orphaned", "blocked")


def tell_task(terminal: Terminal, task: Task, told: str = "", *, guesses: bool = True) -> None:
    """Tells a Task's attempts, its verdicts, and the remedy, unless that was `told` already.
    `guesses`: also what may have been meant."""
    terminal.say("")
    terminal.say(f"{task.metadata.name}  {task_status(task)}", "bold")
    terminal.say(f"  {task.spec.title}", "dim")
    for attempt in task.status.attempts:
        _tell_attempt(terminal, task, attempt)
    _tell_checks(terminal, task)
    if task.status.delivery is not None and task.status.delivery.pull_request is not None:
        _tell_delivery(terminal, task.status.delivery)
    if helps := asked.own_remedy(task):
        terminal.advise(helps)
    tell_stalled(terminal, task, told, guesses=guesses)
    tell_pause(terminal, task)


def _tell_attempt(terminal: Terminal, task: Task, attempt: Attempt) -> None:
    """Tells how it ended, and what it was rejected for; of the last one the verdicts say that."""
    first = attempt.message.strip().partition("\n")[0].rstrip(":")
    first = ": ".join(filter(None, (first, line(quoted(attempt.message), _SUMMARY))))
    said = "it reported success" if attempt.reason == _REPORTED else attempt.reason
    if first and attempt.reason != _REPORTED:
        said = notes.labelled(attempt.reason, notes.shortened(first, _SUMMARY))
    refused = rejection(task, attempt)
    end = f"{said}, then {refused}" if refused else said
    last = f", the last of {attempt.times} sessions" if attempt.times else ""
    terminal.say(f"  attempt {attempt.attempt} ({attempt.session}{last})  {end}")
    if attempt != task.status.attempts[-1] or not _verdicts(task):
        tell_words(terminal, without_quotes(attempt.message.strip()).partition("\n")[2])


def tell_pause(terminal: Terminal, task: Task) -> None:
    """Tells what has failed and is tried again by itself, when, and what would help."""
    waiting = task.status.waiting
    if waiting is None or waiting.until is None or is_stalled(task.status):
        return
    terminal.advise(notes.labelled(waiting.reason, notes.waits(waiting, task)), "yellow")
    if helps := parted(waiting.message)[1]:
        terminal.advise(helps)


def tell_turn(terminal: Terminal, task: Task) -> None:
    """Tells what a Task waits for that comes by itself, at no time that is known."""
    waiting = task.status.waiting
    if waiting is None or waiting.until is not None or is_stalled(task.status):
        return
    terminal.advise(notes.labelled(waiting.reason, notes.waits(waiting, task)))


def tell_stalled(terminal: Terminal, task: Task, told: str = "", *, guesses: bool = True) -> None:
    """Tells why a Task stands still, and the remedy, unless that was `told` already. `guesses`: as
    of `tell_task`."""
    if stalled := _stalled(task):
        quoting = room(terminal.people, notes.LONGEST_NOTE)
        message, remedy = notes.explanation(stalled, task, quoting, guesses=guesses)
        cause = " ".join(message.split())
        if cause not in " ".join(told.split()):
            terminal.advise(notes.labelled(stalled.reason, cause), "red")
        if remedy and remedy not in told:
            terminal.advise(remedy)


def _stalled(task: Task) -> Waiting | None:
    return task.status.waiting if is_stalled(task.status) else None


def _tell_check(terminal: Terminal, check: CheckResult, rows: int | None = None) -> None:
    reason = words.beside(check)
    if check.bypass is not None:
        reason = answers.by_whom(check.bypass.by, check.bypass.reason)
    name = f"{check.kind} {check.title or check.name}"
    mark, style = ("✓", "green") if _good(check) else ("✗", "red")
    if not _good(check) and not check.required:
        mark, style = "!", "yellow"  # it keeps nothing back
    if check.verdict == "Skipped":
        mark, style = "-", "dim"  # it has judged nothing, and may be what a Task waits for
    # What a person has let go on may rest on a known no; his word is about this commit alone.
    is_known = check.cached and check.bypass is None
    known = ", known from the same tree" if is_known else ""
    terminal.say(f"  {mark} {name}: {check.verdict}{reason}{known}", style)
    tell_words(terminal, words.says(check), rows)


def tell_words(terminal: Terminal, said: str, rows: int | None = None) -> None:
    """Shows what a check has found or printed, below what it is about; on a terminal no more than
    it has room for. `rows`: so many of the first ones; None: the last ones, too, as what a program
    printed ends with the cause."""
    limit = room(terminal.people, _EXCERPT)
    whole = text(said, max(limit, 4 * len(said)))
    shown = (cut(whole, limit) if rows else without_middle(whole, limit)).splitlines()
    most = room(terminal.people, rows or _ROWS)
    beginning = [*shown[:most], *(ELLIPSIS,) * (len(shown) > most)]
    for row in beginning if rows else fitting(shown, most):
        terminal.quote(f"      {row}", "dim")
