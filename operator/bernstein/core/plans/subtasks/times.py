"""How long what an agent leaves as subtasks may take: each no longer than the Task that is split.

Who may split a Task was given so much time for it; more of that is for people to give.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from bernstein.api.plans.parts import Part
from bernstein.api.project import ProjectSpec
from bernstein.api.task import TaskSpec
from bernstein.checks.spec import SIGNAL_TIMEOUT
from bernstein.core.plans.field_errors import FieldError
from bernstein.core.plans.subtasks.rules import FIELD
from bernstein.core.routing.limits import seconds_of


def too_long(
    listed: Iterable[Part], parent: TaskSpec, project: ProjectSpec
) -> Iterator[FieldError]:
    """The subtasks whose sessions, or whose signals, could take longer than those of the Task."""
    most, longest = seconds_of(parent, project), _longest(parent)
    for index, part in enumerate(listed):
        place = f"{FIELD}[{index}]"
        if (seconds := seconds_of(part, project)) > most:
            where = f"{place}.{_what(part, project)}"
            text = f"its session could take {_minutes(seconds)}, one of the task that is split"
            yield FieldError(where, f"{where}: {text} {_minutes(most)}: ask for less")
        for number, signal in enumerate(part.completion_signals):
            if (signal.timeout_seconds or 0) > longest:
                where = f"{place}.completion_signals[{number}].timeout_seconds"
                text = f"at most {_minutes(longest)} ({longest} s)"
                yield FieldError(where, f"{where}: {text}, got {signal.timeout_seconds} s")


def _longest(parent: TaskSpec) -> int:
    """Seconds that a signal may take."""
    own = (signal.timeout_seconds or 0 for signal in parent.completion_signals)
    return max((SIGNAL_TIMEOUT, *own))


def _what(part: Part, project: ProjectSpec) -> str:
    """The field that asks for so much."""
    without = part.model_copy(update={"estimated_minutes": None})
    is_estimate = seconds_of(part, project) > seconds_of(without, project)
    return "estimated_minutes" if is_estimate else "scope"


def _minutes(seconds: int) -> str:
    return f"{seconds / 60:g} minutes"
