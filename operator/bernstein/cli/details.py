"""What happened to Tasks that need a look: attempts, verdicts and what helps."""

from __future__ import annotations

from collections.abc import Iterable

from bernstein.api.meta import Condition
from bernstein.api.plan import Plan
from bernstein.api.task import CheckResult, Task
from bernstein.cli import notes
from bernstein.cli.terminal import Terminal
from bernstein.core import conditions
from bernstein.core.records import rejection, task_status
from bernstein.core.sanitise import line, text

_EXCERPT = 1200
_SUMMARY = 200


def tell_ending(terminal: Terminal, plan: Plan, tasks: Iterable[Task], *, good: bool) -> None:
    """The last words on a Plan: delivery, or why not and which Tasks to look at."""
    message, remedy = notes.ending(plan)
    phase = plan.status.phase or ("Succeeded" if good else "Failed")
    mark, style = ("✓", "green") if good else ("✗", "red")
    terminal.say(f"{mark} {phase}{': ' if message else ''}{message}", style)
    delivery = plan.status.delivery
    if good and delivery is not None and delivery.sha:
        terminal.say(f"  {delivery.sha[:12]} on {delivery.onto or 'the branch'}")
    if remedy and not good:
        terminal.say(f"  {remedy}")
    for task in tasks:
        if needs_a_look(task):
            tell_task(terminal, task)


def needs_a_look(task: Task) -> bool:
    stalled = _stalled(task)
    if stalled is not None and stalled.reason != "DependencyFailed":
        return True
    return task_status(task) in ("failed", "orphaned", "blocked")


def tell_task(terminal: Terminal, task: Task) -> None:
    """A Task's attempts, the checks that refused it, and the remedy."""
    terminal.say("")
    terminal.say(f"{task.metadata.name}  {task_status(task)}", "bold")
    terminal.say(f"  {task.spec.title}", "dim")
    for attempt in task.status.attempts:
        told = f": {line(attempt.message, _SUMMARY)}" if attempt.message else ""
        refused = rejection(task, attempt)
        what = f"{attempt.reason}, then {refused}" if refused else f"{attempt.reason}{told}"
        terminal.say(f"  attempt {attempt.attempt} ({attempt.session})  {what}")
    verification = task.status.verification
    for check in verification.checks if verification else ():
        _tell_check(terminal, check)
    if stalled := _stalled(task):
        message, remedy = notes.explanation(stalled)
        terminal.say(f"  {stalled.reason}: {line(message, _SUMMARY)}", "red")
        if remedy:
            terminal.say(f"  {remedy}")


def _stalled(task: Task) -> Condition | None:
    found = conditions.find(task.status.conditions, "Stalled")
    return found if found is not None and found.status == "True" else None


def _tell_check(terminal: Terminal, check: CheckResult) -> None:
    good = check.verdict in ("Passed", "Skipped", "Bypassed")
    reason = f" ({check.reason})" if check.reason else ""
    name = f"{check.kind} {check.title or check.name}"
    mark, style = ("✓", "green") if good else ("✗", "red")
    terminal.say(f"  {mark} {name}: {check.verdict}{reason}", style)
    if not good and check.excerpt:
        for row in text(check.excerpt, _EXCERPT).splitlines():
            terminal.say(f"      {row}", "dim")
