"""Whether the work of every step of a Plan can be reviewed, where its Project asks for that."""

from __future__ import annotations

from collections.abc import Iterator

from bernstein.api.plan import PlanSpec
from bernstein.api.project import ProjectSpec
from bernstein.core.routing.table import route
from bernstein.core.verification.expected import reviews
from bernstein.core.verification.reviewers import Writer


def unreviewed(spec: PlanSpec, project: ProjectSpec) -> Iterator[tuple[str, str]]:
    """(path, why) of steps whose work nobody could review, as the plan file has them.

    Who has no agent is told of that instead.
    """
    known: dict[Writer, str | None] = {}
    for number, stage in enumerate(spec.stages):
        for index, step in enumerate(stage.steps):
            agent = project.agent(step.cli or spec.cli)
            if agent is None:
                continue
            writer = Writer(route(step, agent).model, agent.adapter)
            if writer not in known:
                known[writer] = reviews.problem(project, writer)
            problem = known[writer]
            if problem is not None:
                yield f"stages[{number}].steps[{index}]", f"gates.crossModel: {problem}"
