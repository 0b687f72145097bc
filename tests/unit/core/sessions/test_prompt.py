"""What an agent is told."""

from __future__ import annotations

import pytest
import yaml

from bernstein import roles
from bernstein.api.pod import NO_CHANGE
from bernstein.api.roles.role import AgentRoleSpec
from bernstein.api.task import Task
from bernstein.api.vocabulary import SCOPES
from bernstein.core.documents import PLAN
from bernstein.core.plans import file as plan_file
from bernstein.core.plans.subtasks.written import problems
from bernstein.core.plans.validation import validate_file
from bernstein.core.prompts import parts, plan_files
from bernstein.core.roles.known import Roles
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


def said(task: Task, attempt: int, *, goes_on: bool = False) -> str:
    """All that the operator says, in one text."""
    return "\n\n".join(filter(None, prompt(task, attempt, goes_on=goes_on).values()))


def test_the_prompt_says_everything_that_the_task_says() -> None:
    assert prompt(FULL, 2) == {
        parts.HEAD: """\
Task: Add a limiter
Attempt: 2
Role: backend
Goal: Better web
Stage: build: All that guards the API""",
        parts.ROLE: roles.text("backend"),
        parts.DESCRIPTION: "Use Redis.",
        parts.FILES: "Files that are yours to change:\n- src/a.py",
        parts.CONSTRAINTS: "Constraints:\n- No new dependency.",
        parts.SIGNALS: """\
Done means:
- the path src/a.py exists
- a file matches tests/*.py
- src/a.py contains 'class A'
- src/a.py matches the regular expression 'A+'
- the command `pytest -q` succeeds""",
        parts.NOTES: "",
        parts.FOLDERS: "",
        parts.RESUMED: "",
        parts.AFRESH: "",
        parts.FINDINGS: "Quality gate 'lint' Failed:\nF401",
        parts.EARLIER: "",
        parts.SAID: "",
        parts.RULES: f"""\
Work in the current folder; it is a checkout of the repository.
Leave your result in the files: they are committed for you, whatever you do with git.
Your word is not taken for it. The result is checked as listed above, on the files you leave.
If nothing has to be changed, say so: end your last message with the line {NO_CHANGE}.
If you can go on only once something else has happened, write that into the file
.bernstein/blocked.json (which is not committed) and end:
{{"text": "what you wait for", "tasks": ["names", "of Tasks"]}}
Without names of Tasks a person is asked. A last line `BLOCKED: what you wait for` does the \
same.
Values that others are to read, if there are any, go as JSON into the file .bernstein/output.json \
(which is
not committed and has at most 64 KiB).""",
    }


def test_the_prompt_says_which_files_may_only_be_added_to() -> None:
    told = prompt(FULL, 1, append_only=("CHANGELOG.md", "news/**"))[parts.FILES]

    assert (
        told
        == """\
Files that are yours to change:
- src/a.py

Files in which lines may only be added:
- CHANGELOG.md
- news/**"""
    )


@pytest.mark.parametrize(
    ("own", "shared", "told"),
    [
        (("a.py", "CHANGELOG.md"), ("CHANGELOG.md",), [False, True]),
        (("news/1.md", "news"), ("news/**",), [True, False]),
        (("./docs/a.md",), ("docs/",), [True]),
        (("news/*",), ("news/*",), [True]),
        (("news/*", "new?"), ("news/?", "news"), [False, False]),
    ],
)
def test_of_the_files_of_a_step_it_says_once_which_may_only_be_added_to(
    own: tuple[str, ...], shared: tuple[str, ...], told: list[bool]
) -> None:
    task = objects.task(files=own)

    yours, _, others = prompt(task, 1, append_only=shared)[parts.FILES].partition("\n\n")

    assert yours.splitlines() == [
        "Files that are yours to change:",
        *(f"- {f}{' (lines may only be added)' * only}" for f, only in zip(own, told, strict=True)),
    ]
    assert others.splitlines()[1:] == [f"- {entry}" for entry in shared if entry not in own]


def test_a_file_that_may_only_be_added_to_is_listed_once() -> None:
    both = objects.task(files=("src/a.py", "CHANGELOG.md"))
    told = prompt(both, 1, append_only=("CHANGELOG.md", "news/**"))[parts.FILES]

    assert (
        told
        == """\
Files that are yours to change:
- src/a.py
- CHANGELOG.md (lines may only be added)

Files in which lines may only be added:
- news/**"""
    )


def test_every_part_that_the_operator_writes_is_written() -> None:
    assert {*prompt(FULL, 1)} == {*parts.WRITTEN}


def test_parts_are_read_back_as_they_were_written() -> None:
    paths = ("README.md", "a\nb", "café", '"')
    data = parts.data(prompt(FULL, 2), paths)

    assert data.keys() <= {*(part.key for part in parts.WRITTEN), parts.CONTEXT}
    assert parts.texts_of(data) == {part: t for part, t in prompt(FULL, 2).items() if t}
    assert parts.context_of(data) == paths
    assert parts.context_of({}) == ()


def test_who_goes_on_from_a_checkpoint_is_told_so_and_not_why_the_other_ended() -> None:
    told = parts.begun(prompt(FULL, 2, goes_on=True), resumed=True)

    assert "was cut off. What it had written so far is in the files already" in told[parts.NOTES]
    assert parts.FINDINGS not in told
    assert parts.CHANGE not in parts.begun(
        {**prompt(FULL, 2, goes_on=True), parts.CHANGE: "+1"}, resumed=True
    )


def test_whose_checkpoint_cannot_be_had_is_told_so_and_why_the_attempt_before_ended() -> None:
    told = parts.begun(prompt(FULL, 2, goes_on=True), resumed=False)

    assert "was cut off" in told[parts.NOTES]
    assert "in the files already" not in told[parts.NOTES]
    assert "F401" in told[parts.FINDINGS]


def test_who_goes_on_from_nothing_is_told_of_no_checkpoint() -> None:
    told = parts.begun(prompt(FULL, 2), resumed=False)

    assert "cut off" not in "".join(told.values())
    assert "F401" in told[parts.FINDINGS]


WAITED = {"session": "work-s1", "text": "a key for the sandbox", "tasks": ["api"]}


def test_who_goes_on_after_a_block_is_told_what_was_waited_for_and_what_became_of_it() -> None:
    block = objects.task(status=status(blocked=WAITED))
    answered = objects.task(status=status(blocked=WAITED | {"answer": "it is in the vault"}))

    found = prompt(block, 1, goes_on=True)
    assert "An earlier session could not go on" in found[parts.RESUMED]
    assert "was cut off" not in found[parts.NOTES]
    assert found[parts.FINDINGS] == "It waited for: a key for the sandbox\nClosed since: api"
    found = prompt(answered, 1)
    assert found[parts.FINDINGS].endswith("\nA person answers: it is in the vault")


def test_who_met_a_conflict_is_told_what_to_do_outside_of_the_data() -> None:
    found = objects.task(status=status(feedback="MergeConflict: it conflicts in: a.py\n> ONE"))

    assert "do the task on it, and keep what the others did" in prompt(found, 2)[parts.NOTES]
    assert "do the task" not in prompt(found, 2)[parts.FINDINGS]


def test_what_is_not_said_leaves_no_part() -> None:
    text = said(objects.task(title="Look", changes="none"), 1)

    assert "Files" not in text
    assert "rejected" not in text
    assert "Nothing is expected to change" in text


def test_the_same_task_gives_the_same_prompt() -> None:
    assert prompt(FULL, 1) == prompt(FULL, 1)


def test_who_is_to_leave_a_plan_is_told_where_and_in_what_form() -> None:
    plans = objects.task(plan=None, changes="none", produces={"plan": {}})
    other = objects.task(plan=None, changes="none")

    told = prompt(plans, 1)

    assert PLAN.path in told[parts.RULES]
    assert plan_files.form(model=True) in told[parts.RULES]
    assert plan_files.rules() in told[parts.RULES]
    assert "Nothing is expected to change" not in told[parts.NOTES]
    assert PLAN.path not in said(other, 1)
    assert "Nothing is expected to change" in prompt(other, 1)[parts.NOTES]


def test_the_form_that_agents_are_told_is_a_valid_plan_but_for_its_words() -> None:
    form = plan_files.form(model=True).replace(
        "[names of the stages that must be done before it]", "[]"
    )

    assert validate_file(plan_file.parse(form)).errors == ()


@pytest.mark.parametrize("scope", SCOPES)
def test_the_subtasks_of_its_example_are_taken_of_a_task_of_any_scope(scope: str) -> None:
    task = objects.task(role="manager", scope=scope)
    text = prompt(task, 1, subtasks=3)[parts.RULES]
    begins, ends = text.index("subtasks:\n"), text.index("Only title is required")

    value = yaml.safe_load(text[begins:ends])

    assert value["subtasks"][0]["title"]
    assert problems(value, task.spec, objects.project().spec, 3) == ()


def test_of_many_roles_a_few_are_told_to_who_may_split_its_task() -> None:
    many = Roles({f"zz-role-{n:04}": AgentRoleSpec(prompt="x") for n in range(1000)})

    rules = prompt(FULL, 1, subtasks=3, roles=many)[parts.RULES]

    assert "backend, " in rules
    assert f" and {len(many) - 60} more" in rules
    assert len(rules) < 5000
