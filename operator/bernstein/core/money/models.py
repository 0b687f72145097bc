"""Which models a step may name: tiers, and what the Project's agents or a table of prices know; and
of which the work could not be reviewed, where the Project asks for that.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from bernstein.api.plan import PlanSpec
from bernstein.api.prices import built_in
from bernstein.api.project import Agent, Project, ProjectSpec, TierModels
from bernstein.api.signals import Assignment
from bernstein.core.money.pricing import price_of
from bernstein.core.roles.known import Roles
from bernstein.core.routing.table import route
from bernstein.core.verification.expected import required, reviews
from bernstein.core.verification.expected.reviewers import Writer

AUTO = "auto"
TIERS = tuple(TierModels.model_fields)
_SHOWN = 5
"""Projects that a message names."""


def known(project: ProjectSpec) -> tuple[str, ...]:
    """Their names, in that order. Of a table's names any longer one is known, too."""
    of_agents = (getattr(a.models, tier) for a in project.agents for tier in TIERS)
    priced = (price.model for price in (*project.budget.prices, *built_in()))
    return tuple(dict.fromkeys((AUTO, *TIERS, *filter(None, of_agents), *priced)))


def is_known(model: str | None, project: ProjectSpec) -> bool:
    """Whether a step of this Project may have it; None is not to name one."""
    if model is None or model in known(project):
        return True
    return price_of(model, project.budget.prices) is not None


def strangers(model: str | None, projects: Iterable[Project]) -> tuple[str, ...]:
    """The names of the Projects of which no step may have it."""
    there = (each for each in projects if not is_known(model, each.spec))
    return tuple(sorted(each.metadata.name for each in there))


def unknown(model: str | None, strangers: Sequence[str]) -> str:
    """That these Projects, of which there is one at least, do not know it."""
    names = [f"'{name}'" for name in strangers[:_SHOWN]]
    more = len(strangers) - len(names)
    last = f"{more} more" if more else names.pop()
    named = f"{', '.join(names)} and {last}" if names else last
    whose = "Project" if len(strangers) == 1 else "Projects"
    return f"the {whose} {named} and the table of prices do not know the model '{model}'"


def unreviewed(work: Assignment, agent: Agent, project: ProjectSpec) -> str | None:
    """Why nobody could review what this agent does of it; None: somebody can, or nobody has to."""
    return reviews.problem(project, Writer(route(work, agent).model, agent.adapter))


def unjudged(project: ProjectSpec) -> Iterator[tuple[str, str]]:
    """(path in the Project, why) of what no step could be judged by that names no model of its
    own: Plans are Invalid for it, or their Tasks do not start."""
    gate = required.unanswerable(project)
    if gate is not None:
        yield "gates.pipeline", without_model(gate)
    for number, agent in enumerate(project.agents):
        steps = (Assignment(model=tier) for tier in TIERS)
        problems = [unreviewed(step, agent, project) for step in steps]
        if all(problems):
            yield f"agents[{number}]", f"gates.crossModel: {problems[0]}"


def without_model(gate: str) -> str:
    """That nobody could answer this gate."""
    return f"the gate {gate} asks a model that the Project does not have"


def unreviewed_steps(
    spec: PlanSpec, project: ProjectSpec, roles: Roles
) -> Iterator[tuple[str, str]]:
    """(path in the plan file, why) of each such step. One without an agent is told of that."""
    for work in spec.assigned:
        agent = project.agent(work.given.cli or spec.cli)
        given = roles.with_defaults(work.given)
        problem = unreviewed(given, agent, project) if agent is not None else None
        if problem is not None:
            yield work.path, f"gates.crossModel: {problem}"
