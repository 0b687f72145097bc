"""What the status of an AgentRole says of it."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api.roles.role import AgentRole, AgentRoleStatus
from bernstein.core.conditions import find, is_true
from bernstein.core.roles.judged import status_of
from tests.unit.core.objects import NOW, at


def role(name: str = "tester", status: AgentRoleStatus | None = None, **spec: Any) -> AgentRole:
    told = status.model_dump() if status is not None else {}
    meta = {"name": name, "generation": 3}
    return AgentRole.model_validate({"metadata": meta, "spec": spec, "status": told})


def test_one_that_can_be_used_is_validated_and_says_what_holds_of_it() -> None:
    status = status_of(role(prompt="You test.", model="opus", effort="low"), NOW)

    (validated,) = status.conditions
    assert (validated.type, validated.status, validated.reason) == ("Validated", "True", "Valid")
    assert (status.observed_generation, status.overrides) == (3, False)
    assert status.effective is not None
    assert status.effective.dump() == {"model": "opus", "effort": "low", "maxTasksPerSession": 1}


def test_one_of_the_name_of_a_built_in_role_overrides_it_and_needs_no_prompt() -> None:
    status = status_of(role("backend", model="auto"), NOW)

    assert status.overrides is True
    assert status.effective is not None
    assert status.effective.model is None


def test_more_tasks_in_a_session_than_one_are_taken_as_one_and_that_is_said() -> None:
    status = status_of(role(prompt="You test.", maxTasksPerSession=4), NOW)

    (validated,) = status.conditions
    assert validated.status == "True"
    assert validated.message.startswith("maxTasksPerSession: 4 is taken as 1")
    assert status.effective is not None
    assert status.effective.max_tasks_per_session == 1


@pytest.mark.parametrize(
    ("name", "spec", "words"),
    [
        ("tester", {"model": "opus"}, "prompt: only a built-in role has a text of its own"),
        ("tester", {"prompt": "{{X}}"}, "prompt: line 1, column 1: unknown name 'X'"),
        ("qa", {"taskPrompt": "a\n{{X}}"}, "taskPrompt: line 2, column 1: unknown name 'X'"),
        ("qa", {"taskPrompt": "{{FILES}}"}, "taskPrompt: line 1, column 1: does not say"),
    ],
)
def test_one_that_cannot_be_used_says_why_and_what_helps(
    name: str, spec: dict[str, Any], words: str
) -> None:
    status = status_of(role(name, **spec), NOW)

    for kind, truth in (("Validated", "False"), ("Stalled", "True")):
        condition = find(status.conditions, kind)
        assert condition is not None
        assert (condition.status, condition.reason) == (truth, "RoleInvalid")
        assert condition.message.startswith(words)
        assert "Remedy: Correct these fields of its spec" in condition.message
    assert status.effective is None


def test_one_that_was_corrected_stalls_no_more() -> None:
    wrong = status_of(role(prompt="{{X}}"), NOW)

    status = status_of(role(prompt="You test.", status=wrong), at(60))

    assert [c.type for c in status.conditions] == ["Validated"]
    assert status.conditions[0].last_transition_time == at(60)


def test_nothing_new_changes_nothing() -> None:
    before = status_of(role(prompt="You test."), NOW)

    assert status_of(role(prompt="You test.", status=before), at(60)) == before


def test_many_problems_fit_into_a_condition() -> None:
    name = "X" * 38
    status = status_of(role("qa", prompt=f"{{{{{name}}}}}\n" * 50, taskPrompt="{{Y}}" * 50), NOW)

    validated = find(status.conditions, "Validated")
    assert validated is not None
    assert "more" in validated.message
    assert "Remedy: " in validated.message


UNKNOWN = "the Project 'default' and the table of prices do not know the model 'opsu'"


def test_a_model_that_projects_do_not_know_is_warned_of_until_they_do() -> None:
    before = status_of(role(prompt="You test.", model="opsu"), NOW, UNKNOWN)
    warning = find(before.conditions, "ModelNotKnown")

    assert warning is not None
    assert (warning.status, warning.reason) == ("True", "ModelNotFound")
    assert warning.message.startswith(f"{UNKNOWN}: their Tasks of this role wait; name another")
    assert is_true(before.conditions, "Validated"), "it can be used by others"
    told = role(prompt="You test.", model="opsu", status=before)
    assert status_of(told, at(60), UNKNOWN) == before
    assert find(status_of(told, at(60)).conditions, "ModelNotKnown") is None


def test_one_that_cannot_be_used_has_no_warning_of_its_model_besides() -> None:
    before = status_of(role(prompt="You test.", model="opsu"), NOW, UNKNOWN)

    after = status_of(role(prompt="{{X}}", model="opsu", status=before), at(60), UNKNOWN)

    assert [each.type for each in after.conditions] == ["Validated", "Stalled"]
