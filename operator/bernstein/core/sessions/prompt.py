"""The prompt: what an agent is told."""

from __future__ import annotations

from bernstein.api.pod import NO_CHANGE
from bernstein.api.task import Task
from bernstein.checks import signals

_RULES = f"""\
Work in the current folder; it is a checkout of the repository.
Leave your result in the files: they are committed for you, whatever you do with git.
Your word is not taken for it. The result is checked as listed above, on the files you leave.
If nothing has to be changed, say so: end your last message with the line {NO_CHANGE}."""


_GOES_ON = """\
The session before this one was cut off. What it had written so far is in the files already:
look at it (`git status`, `git diff`) and go on from there."""


def prompt(task: Task, attempt: int, *, goes_on: bool = False) -> str:
    """The prompt of one attempt, as Markdown. `goes_on`: from the files of a checkpoint."""
    spec = task.spec
    parts = [
        f"Task: {spec.title}\nAttempt: {attempt}\nRole: {spec.role}"
        + (f"\nGoal: {spec.goal}" if spec.goal else "")
        + _stage(spec.stage, spec.stage_description),
        spec.description or "",
        _listed("Files that are yours to change", spec.files),
        _listed("Read these files first", spec.context_files),
        _listed("Constraints", spec.constraints),
        _listed("Done means", [signals.of(s.type).sentence(s) for s in spec.completion_signals]),
        "Nothing is expected to change: report what you found." if spec.changes == "none" else "",
        _GOES_ON if goes_on else _previous(task.status.feedback),
        _RULES,
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _stage(name: str | None, description: str | None) -> str:
    if not name:
        return ""
    return f"\nStage: {name}" + (f": {description}" if description else "")


def _listed(heading: str, items: list[str] | tuple[str, ...]) -> str:
    if not items:
        return ""
    return f"{heading}:\n" + "\n".join(f"- {item}" for item in items)


def _previous(feedback: str | None) -> str:
    if not feedback:
        return ""
    return f"The attempt before this one was rejected. What was found:\n\n{feedback}"
