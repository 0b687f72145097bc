"""A document of subtasks: whatever it says, it is steps of a plan, or all that is wrong with it."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bernstein.api.meta import LONGEST_RELATIVE_PATH
from bernstein.api.plans.parts import Part
from bernstein.api.projects.subtasks import MOST_SUBTASKS
from bernstein.api.roles.role import AgentRoleSpec
from bernstein.api.signals import MOST_FILES
from bernstein.checks.globs import Listed
from bernstein.core.documents import values
from bernstein.core.documents.values import Json, Problem
from bernstein.core.plans.subtasks.objects import objects_of
from bernstein.core.plans.subtasks.written import parts, problems
from bernstein.core.roles.known import Roles
from tests.unit.core import objects
from tests.unit.core.documents.test_values import JSON_VALUES

PROJECT = objects.project().spec


def wrong(value: Json, most: int = MOST_SUBTASKS, **parent: Any) -> list[str]:
    spec = objects.task(role="manager", **parent).spec
    return [each.located for each in problems(value, spec, PROJECT, most)]


def steps(value: Json, **parent: Any) -> tuple[Part, ...]:
    return parts(value, objects.task(role="manager", **parent).spec)


def one(**fields: Any) -> Json:
    return {"subtasks": [{"title": "One", **fields}]}


FULL: Json = {
    "title": "The endpoint",
    "description": "All of it",
    "role": "backend",
    "files": ["src/api.py", "tests/**"],
    "priority": 1,
    "scope": "small",
    "complexity": "high",
    "estimated_minutes": 20,
    "completion_signals": [{"type": "path_exists", "path": "src/api.py"}],
}


@pytest.mark.parametrize(
    "value", [one(), {"subtasks": [FULL]}, {"subtasks": [{"goal": "g"}, {"title": "t"}]}]
)
def test_what_a_subtask_may_say_is_taken(value: Json) -> None:
    assert wrong(value) == []
    assert all(step.title for step in steps(value))


def test_each_field_arrives() -> None:
    (step,) = steps({"subtasks": [FULL]})

    assert (step.title, step.description, step.role) == ("The endpoint", "All of it", "backend")
    assert (step.files, step.priority) == (("src/api.py", "tests/**"), 1)
    assert (step.scope, step.complexity, step.estimated_minutes) == ("small", "high", 20)
    assert step.completion_signals[0].path == "src/api.py"


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (None, "must be a mapping with 'subtasks', got null"),
        ([], "must be a mapping with 'subtasks', got array"),
        ({}, "subtasks: must be a list of at least one subtask"),
        ({"subtasks": []}, "subtasks: must be a list of at least one subtask"),
        ({"subtasks": {"title": "x"}}, "subtasks: must be a list of at least one subtask"),
        ({"subtasks": ["x"]}, "subtasks[0]: subtask must be a mapping"),
        ({"subtasks": [{}]}, "subtasks[0]: subtask must have a 'title' or 'goal' field"),
        (one(role="wizard"), "subtasks[0].role: invalid value 'wizard', must be one of ["),
        (one(priority=9), "subtasks[0].priority: must be between 1 and 5, got 9"),
        (one(estimated_minutes=0), "subtasks[0].estimated_minutes: must be >= 1"),
        (one(files="a.py"), "subtasks[0].files: expected type array, got string"),
        (one(files=["../x"]), "subtasks[0].files[0]: must be relative to the repository"),
        (one(files=["/etc"]), "subtasks[0].files[0]: must be relative to the repository"),
        (
            one(completion_signals=[{"path": "x"}]),
            "subtasks[0].completion_signals[0]: missing required field 'type'",
        ),
        (one(image="evil"), "subtasks[0]: unknown field 'image'"),
        (one(approval={"result": "Never"}), "subtasks[0]: unknown field 'approval'"),
        (one(budget=5), "subtasks[0]: unknown field 'budget'"),
        ({**one(), "cli": "big"}, "unknown field 'cli'"),  # type: ignore[dict-item]
        ({"subtasks": [{"title": "x"}, {"title": "x"}]}, "Duplicate task title: 'x'"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(value: Json, said: str) -> None:
    found = wrong(value)

    assert any(each.startswith(said) for each in found), found


@pytest.mark.parametrize(
    "field", ["cli", "model", "effort", "repo", "depends_on_repo", "mode", "changes"]
)
def test_it_chooses_no_agent_no_model_and_no_repository(field: str) -> None:
    assert wrong(one(**{field: "x"})) == [f"subtasks[0].{field}: a subtask does not say that"]


def test_all_problems_are_told_at_once() -> None:
    value: Json = {
        "subtasks": [
            {"title": "a", "model": "opus", "role": "wizard", "files": ["other.py"]},
            {"priority": 7},
        ],
        "stages": [],
    }

    found = wrong(value, files=["src"])

    assert len(found) == 6
    assert {each.partition(":")[0] for each in found} == {
        *("subtasks[0].model", "subtasks[0].role", "subtasks[0].files[0]"),
        *("subtasks[1].priority", "subtasks[1]", "unknown field 'stages'"),
    }


def test_there_are_only_so_many() -> None:
    many: Json = {"subtasks": [{"title": f"t{n}"} for n in range(4)]}

    assert wrong(many, most=3) == ["subtasks: at most 3, got 4"]
    assert wrong(many, most=4) == []


@pytest.mark.parametrize(
    ("own", "path", "is_one"),
    [
        (["src"], "src/a.py", True),
        (["src"], "src/**", True),
        (["src"], "src/api/*.py", True),
        (["src/"], "src/a.py", True),
        (["src/**"], "src/**", True),
        (["src/*.py"], "src/a.py", True),
        (["src/a.py"], "src/a.py", True),
        ([], "anything.py", True),
        (["src"], "other/a.py", False),
        (["src"], "srcs/a.py", False),
        (["src"], "**", False),
        (["src"], "*.py", False),
        (["src/*.py"], "src/**", False),
        (["src/a.py"], "src", False),
        (["src/a.py"], "src/*", False),
    ],
)
def test_its_files_are_some_of_those_of_the_task_that_is_split(
    own: list[str], path: str, is_one: bool
) -> None:
    assert (wrong(one(files=[path]), files=own) == []) is is_one


def files_of(listed: list[str], own: list[str]) -> list[str]:
    """Those of the one subtask that a Task with its `own` files is split into."""
    parent = objects.task(role="manager", files=own)
    (made,) = objects_of(parent, objects.plan(), {"t": steps(one(files=listed))[0]})
    return list(made["spec"]["files"])


@pytest.mark.parametrize(
    ("own", "path", "has"),
    [
        ("src", "src/a.py", "src/a.py"),
        ("src/**", "src/a", "src/a"),
        ("src", "src/*.py", "src/*.py"),
        ("src/*.py", "src/a.py", "src/a.p[y]"),
        ("*", "src", "sr[c]"),
        ("*", "_", "[_]"),
    ],
)
def test_what_it_names_is_no_folder_where_the_task_has_no_folder(
    own: str, path: str, has: str
) -> None:
    assert wrong(one(files=[path]), files=[own]) == []
    assert files_of([path], [own]) == [has]


def test_a_path_for_which_there_is_no_such_glob_is_none_of_them() -> None:
    assert wrong(one(files=["!"]), files=["*"]) != []
    assert wrong(one(files=["x" * LONGEST_RELATIVE_PATH]), files=["*"]) != []
    assert wrong(one(files=["x" * LONGEST_RELATIVE_PATH]), files=["x" * 256]) == []


PARTS = st.sampled_from(["a", "b", "ab", "*", "a*", "?", "**", "[a]", "."])
LISTS = st.lists(st.lists(PARTS, min_size=1, max_size=3).map("/".join), min_size=1, max_size=3)
PROBES = st.lists(st.sampled_from(["a", "b", "ab", "c"]), min_size=1, max_size=4).map("/".join)


@given(LISTS, LISTS, st.lists(PROBES, min_size=1, max_size=5))
def test_a_subtask_may_change_nothing_that_the_task_may_not(
    own: list[str], listed: list[str], probes: list[str]
) -> None:
    if wrong(one(files=listed), files=own):
        return
    its, mine = Listed(files_of(listed, own)), Listed(own)

    assert [path for path in probes if its.holds(path) and not mine.holds(path)] == []


def test_it_comes_before_no_task_that_the_task_waits_behind() -> None:
    def priority(own: int, **said: int) -> int:
        parent = objects.task(role="manager", priority=own)
        (made,) = objects_of(parent, objects.plan(), {"t": steps(one(**said))[0]})
        return int(made["spec"]["priority"])

    assert [priority(4, priority=1), priority(4), priority(2, priority=5)] == [4, 4, 5]


def test_the_model_that_the_task_names_does_its_parts_as_well() -> None:
    named: dict[str, Any] = {"model": "haiku", "effort": "low", "mode": "batch"}
    parent = objects.task(role="manager", **named)
    step = steps(one(role="security", complexity="high", scope="large"))[0]

    (made,) = objects_of(parent, objects.plan(), {"t": step})

    assert {key: made["spec"].get(key) for key in named} == named


NAMES = st.sampled_from(
    [
        *("title", "goal", "description", "role", "files", "priority", "scope", "complexity"),
        *("estimated_minutes", "completion_signals", "cli", "model", "repo", "depends_on", "x"),
    ]
)
SIGNALS = st.fixed_dictionaries(
    {"type": st.sampled_from(["path_exists", "glob_exists", "test_passes", "llm_review", "?"])},
    optional={"path": st.text(max_size=9), "value": st.text(max_size=9), "command": st.text()},
)
VALUES = (
    st.text(max_size=30)
    | st.integers(-3, 9)
    | st.sampled_from(["backend", "qa", "small", "medium", "high", "src/a.py", ".."])
    | st.lists(st.text(max_size=9) | SIGNALS, max_size=3)
    | JSON_VALUES
)
ENTRIES = st.dictionaries(NAMES, VALUES, max_size=6) | JSON_VALUES
DOCUMENTS = st.fixed_dictionaries({"subtasks": st.lists(ENTRIES, max_size=4)}) | JSON_VALUES


@given(DOCUMENTS, st.lists(st.sampled_from(["src", "src/*.py", "a"]), max_size=2))
def test_no_document_is_an_error_and_what_is_taken_becomes_tasks(
    value: Json, files: list[str]
) -> None:
    read = values.parsed(json.dumps(value, allow_nan=True).encode())
    if isinstance(read, Problem):
        return
    parent = objects.task(role="manager", files=files)

    if problems(read, parent.spec, PROJECT, MOST_SUBTASKS):
        return
    made = {f"t{number}": step for number, step in enumerate(steps(read))}
    for obj in objects_of(parent, objects.plan(), made):
        assert obj["spec"]["title"]
        assert not {"cli", "model", "repo"} & obj["spec"].keys()


def test_the_largest_takes_no_time() -> None:
    signal = {"type": "file_contains", "path": "p", "contains": "(a|b)*c" * 9, "regex": True}
    entry: Any = {"files": ["x/**/y"] * MOST_FILES, "completion_signals": [signal] * 5}
    value: Json = {"subtasks": [{"title": f"t{n}", **entry} for n in range(40)]}
    started = time.process_time()

    wrong(value, files=["x/*/z"] * MOST_FILES)

    assert time.process_time() - started < 2


def test_its_role_may_be_one_of_the_namespace() -> None:
    spec = objects.task(role="manager").spec
    known = Roles({"tester": AgentRoleSpec(prompt="You test.", model="opus")})

    assert problems(one(role="tester"), spec, PROJECT, 1, known) == ()
    assert "invalid value 'tester'" in wrong(one(role="tester"))[0]
