"""What a Plan will take, before anything of it has run.

Minutes: those of the chain of steps that takes longest, of which each waits for the one before. A
step that is split takes as long as the longest of its subtasks, and costs what all of them do.

Money: each step is taken to use the tokens of `TOKENS` for its scope, times `FACTOR` for its
complexity, in one attempt, at the price of the model that it would get. Agents read the same
context again with every turn, hence most of the tokens are read from a cache.
"""

from __future__ import annotations

from decimal import ROUND_UP, Decimal

from bernstein.api.meta import UsageCounts
from bernstein.api.money import MOST_DOLLARS, plain
from bernstein.api.plan import Estimate, PlanSpec, Step
from bernstein.api.plans.workflow import Workflow
from bernstein.api.project import Agent, ProjectSpec
from bernstein.api.signals import STEP_MINUTES
from bernstein.api.vocabulary import Complexity, Scope
from bernstein.core import graph
from bernstein.core.money import amounts, pricing
from bernstein.core.plans.expansion import stage_graph
from bernstein.core.plans.field_errors import FieldError
from bernstein.core.plans.workflows import definition as definitions
from bernstein.core.projects import repositories
from bernstein.core.roles.known import BUILT_IN, Roles
from bernstein.core.routing import table as routing

TOKENS: dict[Scope, UsageCounts] = {
    "small": UsageCounts(input=10_000, output=4_000, cache_read=100_000, cache_write=20_000),
    "medium": UsageCounts(input=30_000, output=10_000, cache_read=400_000, cache_write=50_000),
    "large": UsageCounts(input=80_000, output=30_000, cache_read=1_500_000, cache_write=120_000),
}
FACTOR: dict[Complexity, Decimal] = {
    "low": Decimal("0.5"),
    "medium": Decimal(1),
    "high": Decimal(2),
}
_CENT = Decimal("0.01")
_NO_AGENT = Agent(name="auto", adapter="demo", image="none")
"""Without a Project a tier is called by its own name."""


def estimate(
    spec: PlanSpec, project: ProjectSpec | None = None, roles: Roles = BUILT_IN
) -> Estimate:
    """Minutes and US dollars of a valid plan; no sum where a model has no price."""
    costs = _costs(spec, project, roles)
    unpriced = sorted(model for model, amount in costs.items() if amount is None)
    if unpriced:
        basis = f"critical path; no price is known for {', '.join(unpriced)}"
        return Estimate(minutes=minutes(spec), basis=basis[:200])
    total = sum((amount for amount in costs.values() if amount is not None), Decimal(0))
    return Estimate(
        minutes=minutes(spec),
        cost_usd=plain(min(total, Decimal(MOST_DOLLARS)).quantize(_CENT, ROUND_UP)),
        basis=f"critical path; tokens by scope and complexity, {_each(spec)}, list prices",
    )


def _each(spec: PlanSpec) -> str:
    return "one attempt per step" if spec.workflow is None else "one run per node"


def beyond_budget(spec: PlanSpec, forecast: Estimate) -> tuple[FieldError, ...]:
    """A warning where the budget will not do: a Plan stands still once its budget is spent."""
    if spec.budget is None:
        return ()
    budget, cost = Decimal(spec.budget), Decimal(forecast.cost_usd or 0)
    if cost > budget:
        words = f"the estimate {amounts.dollars(cost)} exceeds the budget {amounts.dollars(budget)}"
    elif without := without_money(spec):
        return (FieldError("budget", without),)
    else:
        return ()
    return (FieldError("budget", f"budget: {words}"),)


def without_money(spec: PlanSpec) -> str | None:
    """What a budget of nothing means; None for any other. A person may mean it, until it is
    raised: it is no error."""
    if spec.budget is None or Decimal(spec.budget):
        return None
    return f"budget: with a budget of {amounts.dollars(Decimal(0))} no session starts"


def minutes(spec: PlanSpec) -> int:
    """Minutes along the critical path, with as many agents as there are steps."""
    if spec.workflow is not None:
        nodes = definitions.of(spec.workflow).nodes
        path = (nodes[name] for name in critical_nodes(spec.workflow))
        return sum(node.estimated_minutes or STEP_MINUTES for node in path)
    steps = (spec.stages[stage].steps[step] for stage, step in critical_steps(spec))
    return sum(map(minutes_of, steps))


def minutes_of(step: Step) -> int:
    """Minutes of a step; of one that is split those of the subtask that takes longest."""
    return max(part.estimated_minutes or STEP_MINUTES for part in step.parts or (step,))


def critical_steps(spec: PlanSpec) -> tuple[tuple[int, int], ...]:
    """The steps on the critical path, the first one first: (index of the stage, index in it).

    A step begins when all steps are done of the stages, and of the repository, that come first.
    """
    places: dict[str, tuple[int, int]] = {}
    weights: dict[str, int] = {}
    first: dict[str, tuple[str, ...]] = {}
    done: dict[str, list[str]] = {}
    """By stage and by repository its steps."""
    after = stage_graph(spec)
    for number, stage in enumerate(spec.stages):
        begins = f"begins {number}"
        first[begins] = tuple(f"stage {name}" for name in after[stage.name])
        done[f"stage {stage.name}"] = []
        for at, step in enumerate(stage.steps):
            name = f"step {number} {at}"
            places[name] = (number, at)
            weights[name] = minutes_of(step)
            awaited = step.depends_on_repo
            first[name] = (begins, *(_of_repository(spec, awaited) if awaited else ()))
            its = _of_repository(spec, step.repo or stage.repo)
            for whole in (f"stage {stage.name}", *its):
                done.setdefault(whole, []).append(name)
    first |= {name: tuple(steps) for name, steps in done.items()}
    chain = graph.critical_path(first, weights)
    return tuple(places[name] for name in chain if name in places)


def critical_nodes(workflow: Workflow) -> tuple[str, ...]:
    """The nodes on the critical path, the first one first: as if each ran once."""
    first = {
        name: tuple(link.source for link in links if not link.is_back)
        for name, links in definitions.of(workflow).into.items()
    }
    weights = {each.name: each.estimated_minutes or STEP_MINUTES for each in workflow.nodes}
    return graph.critical_path(first, weights)


def _of_repository(spec: PlanSpec, said: str | None) -> tuple[str, ...]:
    """The name of a repository of the plan in that graph; () where there is none."""
    its = repositories.entry(spec, said) if spec.repos else None
    return (f"repository {its.called}",) if its is not None else ()


def _costs(spec: PlanSpec, project: ProjectSpec | None, roles: Roles) -> dict[str, Decimal | None]:
    """US dollars for each model; None: it has no price."""
    overrides = project.budget.prices if project else ()
    sums: dict[str, Decimal | None] = {}
    for step in (work.given for work in spec.assigned):
        agent = project.agent(step.cli or spec.cli) if project else None
        model = routing.route(roles.with_defaults(step), agent or _NO_AGENT).model
        price = pricing.price_of(model, overrides)
        before = sums.get(model, Decimal(0))
        if price is None or before is None:
            sums[model] = None
        else:
            sums[model] = before + pricing.cost(TOKENS[step.scope], price) * FACTOR[step.complexity]
    return sums
