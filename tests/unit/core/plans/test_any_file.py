"""Validation of whatever a file may say."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from bernstein.api.plan import PlanSpec
from bernstein.api.vocabulary import ROLES
from bernstein.core.plans import file as plan_file
from bernstein.core.plans.validation import validate_file, validate_plan

keys = st.sampled_from(
    [
        "name", "stages", "steps", "title", "goal", "role", "priority", "files", "type", "path",
        "contains", "regex", "completion_signals", "depends_on", "budget", "max_agents", "repos",
        "effort", "cli", "mode", "estimated_minutes", "command", "value", "description",
        "phases", "nodes", "phase", "allowed_roles", "requires_approval", "version", "join",
        "source", "condition", "retry", "max_attempts", "until",
    ]
)  # fmt: skip
scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(min_value=10**5000, max_value=10**5001)
    | st.floats()
    | st.text(max_size=20)
    | st.dates()
    | st.binary(max_size=5)
    | st.sampled_from(["file_contains", "path_exists", "test_passes", "a", "(", "$5", "auto", "qa"])
)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(keys, inner, max_size=6)
        | st.dictionaries(st.none() | st.integers() | st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=30,
)
nearly_plans = st.fixed_dictionaries(
    {
        "name": st.text(max_size=5),
        "stages": st.lists(
            st.fixed_dictionaries(
                {"name": st.sampled_from("abc"), "steps": st.lists(values, max_size=3)},
                optional={"depends_on": st.lists(st.sampled_from("abcd"), max_size=3) | values},
            ),
            max_size=4,
        ),
    },
    optional={"budget": values, "repos": values, "cli": values},
)

OF_LIBRARY = ("nput should", "instance of", "ield required", "should have", "alue error")
"""Words of pydantic, which are no help to people."""
names = st.sampled_from(["a", "b", "c", "d-1"])
conditions = st.sampled_from(
    ["status == 'done'", "status == 'failed'", "output.n > 1", "x", "(", "result in ['a']"]
)
edges = names | st.fixed_dictionaries({"source": names}, optional={"condition": conditions})
nearly_nodes = st.fixed_dictionaries(
    {"phase": st.sampled_from("pqr"), "role": st.sampled_from(["qa", "backend"])},
    optional={
        "depends_on": st.lists(edges | values, max_size=3),
        "join": st.sampled_from(["all", "any"]) | values,
        "retry": st.fixed_dictionaries(
            {}, optional={"max_attempts": st.integers(-1, 25), "until": conditions | values}
        )
        | values,
        "title": values,
    },
)
nearly_workflows = st.fixed_dictionaries(
    {
        "name": st.text(max_size=5),
        "phases": st.lists(
            st.fixed_dictionaries(
                {"name": st.sampled_from("pqr")},
                optional={"allowed_roles": st.lists(st.sampled_from(["qa", "backend"]) | values)},
            ),
            max_size=3,
        ),
        "nodes": st.dictionaries(names | st.text(max_size=5), nearly_nodes | values, max_size=4),
    },
    optional={"version": values, "budget": values, "repos": values},
)
right_edges = st.lists(edges, max_size=2, unique_by=str)
right_workflows = st.fixed_dictionaries(
    {
        "name": st.just("w"),
        "phases": st.just([{"name": "p"}, {"name": "q"}]),
        "nodes": st.dictionaries(
            names,
            st.fixed_dictionaries(
                {"phase": st.sampled_from("pq"), "role": st.sampled_from(["qa", "backend"])},
                optional={"depends_on": right_edges, "retry": st.just({"max_attempts": 2})},
            ),
            min_size=1,
        ),
    }
)


@given(values | nearly_plans | nearly_workflows)
def test_nothing_that_yaml_can_say_breaks_the_validation(data: object) -> None:
    report = validate_file(data)

    messages = [problem.message for problem in report.errors + report.warnings]
    assert all(messages)
    assert not any(words in message for words in OF_LIBRARY for message in messages)


@given(nearly_plans | nearly_workflows | right_workflows)
def test_a_file_without_errors_gives_a_spec_that_the_cluster_finds_valid_too(
    data: dict[str, Any],
) -> None:
    report = validate_file(data)

    if not report.errors:
        spec = PlanSpec.model_validate(plan_file.plan_object(data)["spec"])
        roles = {*ROLES, *(step.role for stage in spec.stages for step in stage.steps)}
        assert validate_plan(spec, None, roles) == ()
