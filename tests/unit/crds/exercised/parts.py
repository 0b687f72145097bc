"""What a step and its Task say of their subtasks: the tests of their fields."""

from __future__ import annotations

_OWN = (
    "unit/core/tasks/parts/test_said.py::test_what_a_subtask_says_of_itself_is_what_its_task_says"
)
TESTS = {
    "Step.subtasks": (
        "unit/core/plans/subtasks/test_said.py::test_the_task_of_the_step_says_them_as_they_are"
    ),
    "TaskSpec.subtasks": (
        "unit/core/tasks/parts/test_said.py::test_it_is_split_where_it_would_be_claimed"
    ),
    "Part.title": _OWN,
    "Part.description": _OWN,
    "Part.role": _OWN,
    "Part.priority": _OWN,
    "Part.scope": _OWN,
    "Part.complexity": _OWN,
    "Part.estimated_minutes": _OWN,
    "Part.files": _OWN,
    "Part.completion_signals": _OWN,
}
