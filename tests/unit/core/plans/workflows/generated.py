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
WHEN = ("status == 'failed'", "status != 'done'", "output.n > 1", "true")
"""Conditions on which a node mends another one, and what ends it."""
UNTIL = ("status == 'done'", "output.n == 2", "false")
WRONG = ("stats", "status =", "f()", "'", "(" * 30, "null.x", "output['a'] == 1 and not result")
outcomes = st.builds(
    Outcome,
    status=st.sampled_from(("done", "done", "failed", "failed", "done", "failed", "cancelled")),
    result=st.sampled_from((None, "words")),
    output=st.sampled_from((None, {"n": 1}, {"n": 2}, {"n": None}, [])),
)
ends = st.fixed_dictionaries({name: st.lists(outcomes, max_size=6) for name in NAMES})
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
    for _ in range(draw(st.integers(0, 2)) if len(nodes) > 1 else 0):
        _loop(draw, nodes)
    asks = st.booleans()
    phases = [{"name": name, "requires_approval": draw(asks)} for name in PHASES]
    return _righted(phases, draw(st.permutations(nodes)))


def _loop(draw: st.DrawFn, nodes: list[dict[str, Any]]) -> None:
    """Has one node mend another one that comes before it."""
    place = draw(st.integers(1, len(nodes) - 1))
    mended, mending = nodes[draw(st.integers(0, place - 1))], nodes[place]
    back = {"source": mended["name"], "condition": draw(st.sampled_from(WHEN))}
    others = [edge for edge in mending["depends_on"] if edge["source"] != mended["name"]]
    mended.update(phase=PHASES[-1], retry=None)
    retry = {"max_attempts": draw(st.integers(1, 4)), "until": draw(st.sampled_from(UNTIL))}
    mending.update(phase=PHASES[0], join="all", retry=retry, depends_on=[back, *others[:1]])


def _righted(phases: list[dict[str, Any]], nodes: list[dict[str, Any]]) -> Workflow:
    """Without what problems are found at."""
    while True:
        workflow = Workflow.model_validate({"phases": phases, "nodes": nodes})
        found = [path.split(".", 2)[1:] for path, _ in problems(workflow)]
        if not found:
            return workflow
        name, field = found[0]
        node = next(node for node in nodes if node["name"] == name)
        if "depends_on" not in field:
            node.pop(field)
        elif node["depends_on"]:
            node["depends_on"].pop()
        else:  # it waits for what those depend on that mend it
            next(node for node in nodes if node["depends_on"])["depends_on"].pop()
