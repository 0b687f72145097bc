"""What an agent is told."""

from __future__ import annotations

from bernstein.api.pod import NO_CHANGE
from bernstein.core.sessions.prompt import prompt
from tests.unit.core import objects
from tests.unit.core.objects import status

FULL = objects.task(
    title="Add a limiter",
    goal="Better web",
    stageDescription="All that guards the API",
    role="backend",
    description="Use Redis.",
    files=["src/a.py"],
    contextFiles=["README.md"],
    constraints=["No new dependency."],
    completionSignals=[
        {"type": "path_exists", "path": "src/a.py"},
        {"type": "glob_exists", "value": "tests/*.py"},
        {"type": "file_contains", "path": "src/a.py", "contains": "class A"},
        {"type": "file_contains", "path": "src/a.py", "contains": "A+", "regex": True},
        {"type": "test_passes", "command": "pytest -q"},
    ],
    status=status(feedback="Quality gate 'lint' Failed:\nF401"),
)


def test_the_prompt_says_everything_that_the_task_says() -> None:
    assert (
        prompt(FULL, 2)
        == f"""\
Task: Add a limiter
Attempt: 2
Role: backend
Goal: Better web
Stage: build: All that guards the API

Use Redis.

Files that are yours to change:
- src/a.py

Read these files first:
- README.md

Constraints:
- No new dependency.

Done means:
- the path src/a.py exists
- a file matches tests/*.py
- src/a.py contains 'class A'
- src/a.py matches the regular expression 'A+'
- the command `pytest -q` succeeds

The attempt before this one was rejected. What was found:

Quality gate 'lint' Failed:
F401

Work in the current folder; it is a checkout of the repository.
Leave your result in the files: they are committed for you, whatever you do with git.
Your word is not taken for it. The result is checked as listed above, on the files you leave.
If nothing has to be changed, say so: end your last message with the line {NO_CHANGE}.
"""
    )


def test_who_goes_on_from_a_checkpoint_is_told_so_and_not_why_the_other_ended() -> None:
    text = prompt(FULL, 2, goes_on=True)

    assert "was cut off. What it had written so far is in the files already" in text
    assert "rejected" not in text


def test_what_is_not_said_leaves_no_heading() -> None:
    text = prompt(objects.task(title="Look", changes="none"), 1)

    assert "Files" not in text
    assert "rejected" not in text
    assert "Nothing is expected to change" in text


def test_the_same_task_gives_the_same_prompt() -> None:
    assert prompt(FULL, 1) == prompt(FULL, 1)
