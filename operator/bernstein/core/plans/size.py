"""How much a Plan and its Tasks take in the cluster, before any of it is made."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator

from bernstein.api.plan import Plan, PlanSpec, Stage, Step, Work
from bernstein.api.plans.rows import MAX_ROWS
from bernstein.api.signals import MOST_PATTERN_CHARACTERS, Signal, expressions_of
from bernstein.api.verification import MOST_CHECKS
from bernstein.checks import signals
from bernstein.checks.patterns import MOST_CHARACTERS
from bernstein.core.graph import dependencies
from bernstein.core.plans.workflows import definition
from bernstein.core.projects import repositories
from bernstein.core.verification.verdicts import EXCERPT_BYTES

PLAN_BYTES = 1_300_000
"""Of a Plan's spec and status at its worst. etcd takes 1,572,864 bytes of an object; 262,144 of
these may be annotations, such as what kubectl applied last, and some 10,000 other metadata."""
TASKS_BYTES = 16_000_000
"""Of all Tasks of a Plan together; every replica of the operator holds them in memory."""
MOST_SIGNALS = 200
"""Different ones in a Plan: with the gates that a Project can have, at most MOST_CHECKS."""
_MANY_STEPS = 100
_MANY_CHARACTERS = 2_000
_ROW_BYTES = 421
"""Of a Task's row in the status, beside the name of its stage: with the longest name, ten digits of
each kind of token, and the hash of a SHA-256 repository."""
_PART_BYTES = 60
"""Of what else the row of a subtask says: `-` for a stage, and what it is a part of."""
_NODE_BYTES = 160
"""Of a node's state, beside its name."""
_EDGE_BYTES = 2_000
"""Of an edge of it: most of that may be the values that it was decided on."""
_VERDICT_BYTES = 425
"""Of a verdict in the status, beside what it asks and its excerpt; that it is asked again, too."""
_GATES = MOST_CHECKS - MOST_SIGNALS
_TITLE_BYTES = 300
"""Of what a gate asks; which gates there will be the Project says, when they are run."""
_REST_BYTES = 60_000
"""Of conditions, what it waits for, answers to requests, and all else of a status."""
_REPOSITORY_BYTES = 40_000
"""Of what else a status says of each repository, where there are several."""
_ESCAPED = {"<": 5, ">": 5, "&": 5, "\u2028": 3, "\u2029": 3}
"""The API server stores these as six bytes of ASCII: so many more than they have."""


def too_large(spec: PlanSpec) -> Iterator[tuple[str, str]]:
    """(path in the plan file, message) of what takes more than a cluster can hold."""
    path = "stages" if spec.workflow is None else "nodes"
    asked = _asked(spec)
    plan = _of_plan(spec, asked)
    if plan > PLAN_BYTES:
        yield (
            path,
            f"with its status the plan takes {plan:,} bytes, at most {PLAN_BYTES:,} are possible: "
            + _what_helps(asked),
        )
    characters = sum(map(len, expressions_of_plan(spec)))
    if characters > MOST_CHARACTERS:
        yield (
            path,
            f"its regular expressions have {characters} characters, at most {MOST_CHARACTERS} are "
            "possible: shorten them, let steps share them, or make several plans of it",
        )
    for work in _expressive(spec):
        characters = sum(map(len, expressions_of(work.given)))
        if characters > MOST_PATTERN_CHARACTERS:
            yield (
                f"{work.path}.completion_signals",
                f"its regular expressions have {characters} characters, at most "
                f"{MOST_PATTERN_CHARACTERS} are possible: shorten them, or make several steps",
            )
    most = max(map(len, asked.values()), default=0)
    if most > MOST_SIGNALS:
        yield (
            path,
            f"its steps have {most} different completion signals, at most {MOST_SIGNALS} are "
            "possible, because all of them judge the plan's work as a whole: let steps share "
            "signals (a path_exists with a folder, a glob_exists, one test_passes for several), or "
            "make several plans of it",
        )
    rows = sum(1 + _parts(work) for work in spec.work) if spec.workflow is None else 0
    if rows > MAX_ROWS:
        yield (
            path,
            f"its steps and their subtasks are {rows} Tasks, at most {MAX_ROWS} are possible: make "
            "several plans of it",
        )
    tasks = _of_tasks(spec)
    if tasks > TASKS_BYTES:
        yield (
            path,
            f"its Tasks take {tasks:,} bytes together, at most {TASKS_BYTES:,} are possible: each "
            "has the plan's constraints and context_files and the names of the stages that it "
            "depends on; shorten these, or make several plans of it",
        )


def room_for_parts(plan: Plan) -> int:
    """How many rows of subtasks the Plan's status still has room for, at its worst, beside those
    that its spec asks for."""
    rows = (PLAN_BYTES - _of_plan(plan.spec, _asked(plan.spec))) // (_ROW_BYTES + _PART_BYTES)
    left = MAX_ROWS - len(plan.status.tasks)
    kept, there = _kept(plan)
    return max(0, min(rows - len(plan.status.extra) + there, left - (kept - there)))


def _kept(plan: Plan) -> tuple[int, int]:
    """How many rows of subtasks its spec asks for, and how many of these there are. Done anew, what
    is split takes others."""
    asked = {place: _parts(work) for place, work in enumerate(plan.spec.work)}
    if not any(asked.values()):
        return 0, 0
    parents = Counter(row.parent for row in plan.status.extra)
    steps = (row.name for row in plan.status.tasks if row.step is not None)
    there = sum(min(asked.get(place, 0), parents[name]) for place, name in enumerate(steps))
    return sum(asked.values()), there


def _parts(work: Work) -> int:
    return len(work.given.subtasks) if isinstance(work.given, Step) else 0


def _expressive(spec: PlanSpec) -> Iterator[Work]:
    """All that says regular expressions: what is split may say some, too."""
    yield from spec.work
    yield from (work for work in spec.assigned if ".subtasks[" in work.path)


def _of_plan(spec: PlanSpec, asked: dict[str | None, dict[str, Signal]]) -> int:
    """A Plan at its worst, without Tasks that are of no step. `asked`: its signals."""
    plan = _bytes(spec.dump()) + _of_rows(spec) + sum(map(_of_round, asked.values())) + _REST_BYTES
    if len(asked) > 1:
        # What keeps it back most is told once more.
        plan += max(map(_of_round, asked.values())) + len(asked) * _REPOSITORY_BYTES
    return plan


def _what_helps(asked: dict[str | None, dict[str, Signal]]) -> str:
    rounds = sum(map(_of_round, asked.values())) + len(asked) * _REPOSITORY_BYTES
    if len(asked) > 1 and rounds > PLAN_BYTES / 2:
        return (
            f"its {len(asked)} repositories take {_mb(rounds)} of that, for what is told of their "
            "checks: let steps of fewer repositories be in it, or make several plans of it"
        )
    return "shorten descriptions and names of stages, or make several plans of it"


def is_large(spec: PlanSpec) -> bool:
    """Whether to go through all of it takes so long that it is better done in pieces."""
    steps = sum(1 for _ in spec.assigned)
    characters = sum(map(len, expressions_of_plan(spec)))
    return steps > _MANY_STEPS or characters > _MANY_CHARACTERS


def expressions_of_plan(spec: PlanSpec) -> tuple[str, ...]:
    """Its different regular expressions, in order."""
    found = (text for work in _expressive(spec) for text in expressions_of(work.given))
    return tuple(dict.fromkeys(found))


def _asked(spec: PlanSpec) -> dict[str | None, dict[str, Signal]]:
    """Its different signals in each of its repositories: those that judge its work there."""
    asked: dict[str | None, dict[str, Signal]] = {}
    for work in spec.work:
        its = repositories.entry(spec, work.repo)
        there = asked.setdefault(its.called if its is not None else None, {})
        there |= {each.model_dump_json(): each for each in work.given.completion_signals}
    return asked


def _of_round(asked: dict[str, Signal]) -> int:
    """A round of checks of all that the Plan delivers in one repository."""
    gates = _GATES * (_VERDICT_BYTES + _TITLE_BYTES)
    return sum(map(_of_verdict, asked.values())) + gates + EXCERPT_BYTES


def _of_verdict(signal: Signal) -> int:
    return _VERDICT_BYTES + _bytes(signals.of(signal.type).title(signal))


def _of_rows(spec: PlanSpec) -> int:
    """What a status says of each Task, and of how far a workflow is."""
    if spec.workflow is None:
        steps = [(stage, len(stage.steps)) for stage in spec.stages]
        parts = sum(map(_parts, spec.work)) * (_ROW_BYTES + _PART_BYTES)
        return parts + sum(number * (_ROW_BYTES + _bytes(stage.name)) for stage, number in steps)
    nodes, runs = spec.workflow.nodes, definition.of(spec.workflow)
    rows = sum(
        runs.most_runs(node.name) * (_ROW_BYTES + _bytes([node.name, node.phase])) for node in nodes
    )
    edges = sum(_EDGE_BYTES + _bytes(edge.source) for node in nodes for edge in node.depends_on)
    return rows + edges + sum(_NODE_BYTES + _bytes(node.name) for node in nodes)


def _of_tasks(spec: PlanSpec) -> int:
    every = _bytes([*spec.constraints, *spec.context_files, spec.name])
    if spec.workflow is not None:
        its = definition.of(spec.workflow)
        nodes = [(node, its.most_runs(node.name)) for node in spec.workflow.nodes]
        return sum(runs * (every + _bytes(node.dump())) for node, runs in nodes)
    graph = dependencies([(stage.name, stage.depends_on) for stage in spec.stages])
    total = 0
    for stage in spec.stages:
        each = every + _of_stage(stage) + _bytes(graph[stage.name])
        total += sum(each + _bytes(step.dump()) for step in stage.steps)
        parts = (part for step in stage.steps for part in step.parts)
        total += sum(every + _bytes(part.dump()) for part in parts)
    return total


def _of_stage(stage: Stage) -> int:
    return _bytes([stage.name, stage.description])


def _bytes(value: object) -> int:
    """In the API server's store."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return len(text.encode()) + sum(more * text.count(each) for each, more in _ESCAPED.items())


def _mb(size: int) -> str:
    return f"{size / 1e6:.1f} MB"
