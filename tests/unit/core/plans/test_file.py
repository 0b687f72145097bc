"""Plan files: what is read, what is refused, and the Plan that comes out."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bernstein.api.plan import PlanSpec, Stage, Step
from bernstein.api.signals import Signal
from bernstein.core import labels
from bernstein.core.plans import file as plan_file
from bernstein.core.plans.file import PlanSyntaxError
from bernstein.core.plans.validation import validate_file
from tests.unit.core.plans.plan_files import RATE_LIMIT

MINIMAL = {"name": "Small plan", "stages": [{"name": "only", "steps": [{"title": "Do it"}]}]}


def test_the_documented_example_is_read_and_valid() -> None:
    report = validate_file(plan_file.parse(RATE_LIMIT))

    assert report.errors == ()
    assert report.warnings == ()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [1", "expected ',' or ']', but got '<stream end>' (line 1, column 6)"),
        ("name: x\nname: y\n", "duplicate key 'name' (line 2, column 1)"),
        ("a: &x [*x]", "alias"),
        ("a: *nowhere", "found undefined alias"),
        ("--- 1\n--- 2\n", "but found another document"),
        ("[" * 40 + "]" * 40, "nested deeper than 32 (line 1, column 33)"),
        ("a: !!python/object:os.system {}", "could not determine a constructor"),
        ("when: 2024-13-45", "month must be in 1..12"),
        ("? [a, b]\n: 1", "found unhashable key"),
        ("a: \x07", "special characters are not allowed"),
        (b"\xff\xfe\xff", "unacceptable character"),
    ],
)
def test_text_that_is_no_plan_file_is_refused_with_its_place(
    text: str | bytes, message: str
) -> None:
    with pytest.raises(PlanSyntaxError) as refusal:
        plan_file.parse(text)

    assert str(refusal.value).startswith("Failed to parse YAML plan: ")
    assert message in str(refusal.value)


def test_an_alias_may_be_used() -> None:
    text = "a: &x {role: qa}\nb: *x\nc:\n  <<: *x\n  title: t\n"

    assert plan_file.parse(text) == {
        "a": {"role": "qa"},
        "b": {"role": "qa"},
        "c": {"role": "qa", "title": "t"},
    }


@pytest.mark.parametrize("item", ["[{0},{0},{0},{0},{0},{0},{0},{0},{0},{0}]", "{{<<: [{0},{0}]}}"])
def test_a_few_lines_that_stand_for_billions_of_values_are_refused(item: str) -> None:
    lines = ["a0: &a0 {k: v}"]
    lines += [f"a{n}: &a{n} " + item.format(f"*a{n - 1}") for n in range(1, 25)]

    with pytest.raises(PlanSyntaxError, match="with all aliases written out"):
        plan_file.parse("\n".join(lines))


def test_a_file_of_more_than_a_megabyte_is_refused_unread() -> None:
    with pytest.raises(PlanSyntaxError, match="longer than 1024 KiB"):
        plan_file.parse("[" * (plan_file.MAX_BYTES + 1))


@given(st.text(max_size=200) | st.binary(max_size=200))
def test_any_text_is_data_or_a_syntax_error(text: str | bytes) -> None:
    try:
        plan_file.parse(text)
    except PlanSyntaxError as error:
        if not str(error).startswith("Failed to parse YAML plan: "):
            raise


def test_a_plan_object_has_the_files_content_in_camel_case() -> None:
    data = {
        "name": "  My plan ",
        "budget": "$5.00",
        "max_agents": 4,
        "context_files": ["README.md"],
        "stages": [
            {
                "name": "one",
                "depends_on": [],
                "steps": [
                    {
                        "goal": "Do it",
                        "effort": "medium",
                        "estimated_minutes": 5,
                        "completion_signals": [
                            {"type": "test_passes", "command": "true", "timeout_seconds": 9}
                        ],
                    }
                ],
            }
        ],
    }

    plan = plan_file.plan_object(data, namespace="team")

    assert plan["apiVersion"] == "bernstein.dev/v1alpha1"
    assert plan["kind"] == "Plan"
    assert plan["metadata"]["name"] == "my-plan"
    assert plan["metadata"]["namespace"] == "team"
    assert plan["spec"] == {
        "name": "My plan",
        "budget": "5",
        "maxAgents": 4,
        "contextFiles": ["README.md"],
        "stages": [
            {
                "name": "one",
                "dependsOn": [],
                "steps": [
                    {
                        "title": "Do it",
                        "effort": "normal",
                        "estimatedMinutes": 5,
                        "completionSignals": [
                            {"type": "test_passes", "command": "true", "timeoutSeconds": 9}
                        ],
                    }
                ],
            }
        ],
    }


def test_name_project_and_max_agents_may_be_given_beside_the_file() -> None:
    plan = plan_file.plan_object(MINIMAL, name="other", project="web", max_agents=2)

    assert plan["metadata"]["name"] == "other"
    assert plan["spec"]["projectRef"] == "web"
    assert plan["spec"]["maxAgents"] == 2


def test_the_digest_depends_on_what_is_asked_for_and_not_on_how_it_is_written() -> None:
    def digest(**changes: Any) -> str:
        plan = plan_file.plan_object(MINIMAL | changes)
        digest: str = plan["metadata"]["annotations"][labels.CONTENT]
        return digest

    assert digest(budget="$5.00") == digest(budget=5)
    assert digest(budget="$5") != digest(budget="$6")
    assert digest(description="more") != digest()


def test_the_digest_of_a_file_stays_what_older_releases_wrote_down() -> None:
    data = plan_file.parse(RATE_LIMIT)
    assert isinstance(data, dict)

    plan = plan_file.plan_object(data)

    assert plan["metadata"]["annotations"][labels.CONTENT] == "846b5b239696ecea429b032be11eab2f"


def test_a_field_that_comes_later_counts_only_where_it_says_something(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class NewSignal(Signal):
        shell: str | None = None

    class NewStep(Step):
        note: str | None = None
        completion_signals: tuple[NewSignal, ...] = ()

    class NewStage(Stage):
        repo: str = "main"
        steps: tuple[NewStep, ...]

    class NewSpec(PlanSpec):
        owners: tuple[str, ...] = ()
        stages: tuple[NewStage, ...]

    step = {"title": "a", "completionSignals": [{"type": "path_exists", "path": "a"}]}
    spec = {"name": "p", "stages": [{"name": "s", "steps": [step]}]}
    before = plan_file.content_digest(spec)

    monkeypatch.setattr(plan_file, "PlanSpec", NewSpec)

    assert plan_file.content_digest(spec) == before
    noted = {"name": "p", "stages": [{"name": "s", "steps": [step | {"note": "n"}]}]}
    assert plan_file.content_digest(noted) != before
    assert plan_file.content_digest(spec | {"owners": ["me"]}) != before


def test_the_digest_ignores_what_may_change_while_a_plan_runs() -> None:
    spec = plan_file.plan_object(MINIMAL)["spec"]

    cancelled = spec | {"suspend": True, "cancel": {"reason": "no"}}

    assert plan_file.content_digest(cancelled) == plan_file.content_digest(spec)


def test_what_the_api_server_adds_by_default_changes_no_digest() -> None:
    spec = plan_file.plan_object(MINIMAL)["spec"]

    served = PlanSpec.model_validate(spec).dump()

    assert plan_file.content_digest(served) == plan_file.content_digest(spec)
