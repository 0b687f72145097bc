"""Whether the regular expressions of a Task's signals are any: judged once in its life.

To read them may take some ten milliseconds a Task, which is seconds for hundreds of them. So each
is judged by its own reconcile, which writes down what came of it, and the schedule, which looks at
all of them again and again, reads only that. What a Task says of its signals never changes.
"""

from __future__ import annotations

from datetime import datetime

from bernstein.api.meta import Condition, ConditionType
from bernstein.api.reasons import Reason
from bernstein.api.signals import MOST_PATTERN_CHARACTERS, expressions_of
from bernstein.api.task import Task, TaskStatus
from bernstein.checks import patterns
from bernstein.core import conditions


def judged(task: Task, status: TaskStatus, now: datetime) -> TaskStatus:
    """The status with the condition Validated, where the Task has regular expressions."""
    if is_judged(task, status):
        return status
    problem = _problem(expressions_of(task.spec))
    reason = Reason.INVALID_PATTERN if problem else "Valid"
    return conditions.note(
        status, ConditionType.VALIDATED, problem is None, reason, problem or "", now
    )


def is_judged(task: Task, status: TaskStatus) -> bool:
    """Whether there is nothing that its own reconcile has to judge before it may start."""
    return _verdict(status) is not None or not expressions_of(task.spec)


def problem_of(status: TaskStatus) -> str | None:
    """What is wrong with them; None: nothing, or there are none."""
    verdict = _verdict(status)
    return verdict.message if verdict is not None and verdict.status == "False" else None


def _verdict(status: TaskStatus) -> Condition | None:
    return conditions.find(status.conditions, ConditionType.VALIDATED)


def _problem(expressions: tuple[str, ...]) -> str | None:
    characters = sum(map(len, expressions))
    if characters > MOST_PATTERN_CHARACTERS:
        return (
            f"its regular expressions have {characters} characters, at most "
            f"{MOST_PATTERN_CHARACTERS} are possible"
        )
    found = ((text, patterns.problem(text)) for text in expressions)
    return next(
        (f"{text!r} is no regular expression: {why}" for text, why in found if why is not None),
        None,
    )
