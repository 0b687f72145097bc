"""Workflows of chance: such as have nothing wrong, and any that the schema takes."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from bernstein.api.plans.workflow import Workflow
from bernstein.core.plans.workflows.problems import problems
from tests.unit.core.plans.workflows.stories.story import Outcome

PHASES = ("first", "second", "third")
NAMES = tuple("abcdefgh")
CONDITIONS = (
    *("status == 'done'", "status == 'failed'", "status != 'done'", "status == 'skipped'"),
    *("status in ('failed', 'cancelled')", "output.n > 1", "output.n == null", "result", "true"),
    "false",
)
WRONG = ("stats", "status =", "f()", "'", "(" * 30, "null.x", "output['a'] == 1 and not result")
outcomes = st.builds(
    Outcome,
    status=st.sampled_from(("done", "done", "done", "failed", "failed", "cancelled")),
    result=st.sampled_from((None, "words")),
    output=st.sampled_from((None, {"n": 1}, {"n": 2}, {"n": None}, [])),
)
ends = st.dictionaries(st.sampled_from(NAMES), st.lists(outcomes, max_size=6))
"""How the runs of nodes end, by their names."""


def _edges(sources: st.SearchStrategy[str], conditions: st.SearchStrategy[str]) -> Any:
    edge = st.fixed_dictionaries({"source": sources}, optional={"condition": conditions})
    return st.lists(edge, max_size=4)


def _retry(conditions: st.SearchStrategy[str]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(
        {}, optional={"max_attempts": st.integers(1, 4), "until": conditions}
    )


@st.composite
def any_workflow(draw: st.DrawFn) -> Workflow:
    """With nodes and phases that there are not, circles, and conditions that are none."""
    names = NAMES[: draw(st.integers(1, len(NAMES)))]
    conditions = st.sampled_from(CONDITIONS + WRONG)
    node = st.fixed_dictionaries(
        {"phase": st.sampled_from((*PHASES, "fourth")), "role": st.sampled_from(("qa", "docs"))},
        optional={
            "depends_on": _edges(st.sampled_from((*names, "zebra")), conditions),
            "join": st.sampled_from(("all", "any")),
            "retry": _retry(conditions),
        },
    )
    roles = st.lists(st.sampled_from(("qa", "backend")), max_size=2)
    phases = [{"name": name, "allowed_roles": draw(roles)} for name in PHASES]
    nodes = [{"name": name, **draw(node)} for name in names]
    return Workflow.model_validate({"phases": phases, "nodes": nodes})


@st.composite
def right_workflow(draw: st.DrawFn) -> Workflow:
    """With joins, conditions, retries, loops and phases that ask."""
    names = NAMES[: draw(st.integers(1, len(NAMES)))]
    conditions = st.sampled_from(CONDITIONS)
    nodes: list[dict[str, Any]] = []
    for place, name in enumerate(names):
        before = st.sampled_from(names[:place] or (name,))
        given: dict[str, Any] = {"phase": draw(st.sampled_from(PHASES)), "name": name}
        given["depends_on"] = draw(_edges(before, conditions)) if place else []
        given["join"] = draw(st.sampled_from(("all", "all", "any")))
        given["retry"] = draw(st.none() | _retry(conditions))
        nodes.append(given)
    asks = st.booleans()
    phases = [{"name": name, "requires_approval": draw(asks)} for name in PHASES]
    return _righted(phases, draw(st.permutations(nodes)))


def _righted(phases: list[dict[str, Any]], nodes: list[dict[str, Any]]) -> Workflow:
    """Without what problems are found at."""
    while True:
        workflow = Workflow.model_validate({"phases": phases, "nodes": nodes})
        found = [path.split(".", 2)[1:] for path, _ in problems(workflow)]
        if not found:
            return workflow
        for name, field in found:
            node = next(node for node in nodes if node["name"] == name)
            if "[" in field and node["depends_on"]:
                node["depends_on"].pop()
            else:
                node.pop(field, None)
                node.setdefault("depends_on", [])
