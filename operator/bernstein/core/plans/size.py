"""How much a Plan and its Tasks take in the cluster, before any of it is made."""

from __future__ import annotations

import json
from collections.abc import Iterator

from bernstein.api.plan import PlanSpec, Stage, Step
from bernstein.api.signals import MOST_PATTERN_CHARACTERS, Signal, expressions_of
from bernstein.checks import signals
from bernstein.checks.patterns import MOST_CHARACTERS
from bernstein.core.graph import dependencies
from bernstein.core.verification.verdicts import EXCERPT_BYTES

PLAN_BYTES = 1_050_000
"""Of a Plan with its full status, but for the verdicts of the Project's gates. The API server's
store takes objects of up to 1.5 MB, with what it writes itself."""
TASKS_BYTES = 16_000_000
"""Of all Tasks of a Plan together; every replica of the operator holds them in memory."""
MOST_SIGNALS = 200
"""Different ones in a Plan: with the gates that a Project can have, at most MOST_CHECKS."""
_ROW_BYTES = 345
"""Of a Task's row in the status, beside the name of its stage."""
_VERDICT_BYTES = 250
"""Of a verdict in the status, beside what it asks and its excerpt."""


def too_large(spec: PlanSpec) -> Iterator[tuple[str, str]]:
    """(path in the plan file, message) of what takes more than a cluster can hold."""
    steps = [(stage, len(stage.steps)) for stage in spec.stages]
    rows = sum(number * (_ROW_BYTES + _bytes(stage.name)) for stage, number in steps)
    asked = {signal.model_dump_json(): signal for signal in _signals(spec)}
    plan = _bytes(spec.dump()) + rows + EXCERPT_BYTES + sum(map(_of_verdict, asked.values()))
    if plan > PLAN_BYTES:
        yield (
            "stages",
            f"with its status the plan takes {_mb(plan)}, at most {_mb(PLAN_BYTES)} is possible: "
            "shorten descriptions and names of stages, or make several plans of it",
        )
    expressions = {text for _, step in _steps(spec) for text in expressions_of(step)}
    characters = sum(map(len, expressions))
    if characters > MOST_CHARACTERS:
        yield (
            "stages",
            f"its regular expressions have {characters} characters, at most {MOST_CHARACTERS} are "
            "possible: shorten them, let steps share them, or make several plans of it",
        )
    for place, step in _steps(spec):
        characters = sum(map(len, expressions_of(step)))
        if characters > MOST_PATTERN_CHARACTERS:
            yield (
                f"{place}.completion_signals",
                f"its regular expressions have {characters} characters, at most "
                f"{MOST_PATTERN_CHARACTERS} are possible: shorten them, or make several steps",
            )
    if len(asked) > MOST_SIGNALS:
        yield (
            "stages",
            f"its steps have {len(asked)} different completion signals, at most {MOST_SIGNALS} are "
            "possible, because all of them judge the plan's work as a whole: let steps share "
            "signals (a path_exists with a folder, a glob_exists, one test_passes for several), or "
            "make several plans of it",
        )
    tasks = _of_tasks(spec)
    if tasks > TASKS_BYTES:
        yield (
            "stages",
            f"its Tasks take {_mb(tasks)} together, at most {_mb(TASKS_BYTES)} is possible: each "
            "has the plan's constraints and context_files and the names of the stages that it "
            "depends on; shorten these, or make several plans of it",
        )


def _steps(spec: PlanSpec) -> Iterator[tuple[str, Step]]:
    """Each with its place in the plan file."""
    for s, stage in enumerate(spec.stages):
        for n, step in enumerate(stage.steps):
            yield f"stages[{s}].steps[{n}]", step


def _signals(spec: PlanSpec) -> Iterator[Signal]:
    return (s for stage in spec.stages for step in stage.steps for s in step.completion_signals)


def _of_verdict(signal: Signal) -> int:
    return _VERDICT_BYTES + _bytes(signals.of(signal.type).title(signal))


def _of_tasks(spec: PlanSpec) -> int:
    every = _bytes([*spec.constraints, *spec.context_files, spec.name])
    graph = dependencies([(stage.name, stage.depends_on) for stage in spec.stages])
    total = 0
    for stage in spec.stages:
        each = every + _of_stage(stage) + _bytes(graph[stage.name])
        total += sum(each + _bytes(step.dump()) for step in stage.steps)
    return total


def _of_stage(stage: Stage) -> int:
    return _bytes([stage.name, stage.description])


def _bytes(value: object) -> int:
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())


def _mb(size: int) -> str:
    return f"{size / 1e6:.1f} MB"
