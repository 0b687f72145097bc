"""What can be wrong with the stages of a plan, and with their steps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from bernstein.core import graph
from bernstein.core.plans.field_errors import Table, quoted
from bernstein.core.plans.fields import stages_of, steps_of
from bernstein.core.plans.validation.assignments import Assignments


class Stages:
    """Judges them."""

    def __init__(self, work: Assignments) -> None:
        self._work = work
        self._findings = work.findings
        self.table = self._table()
        self.step_table: Table = {
            **work.table,
            "goal": work.heading,
            "depends_on_repo": work.findings.line,
        }

    def _table(self) -> Table:
        findings = self._findings
        return {
            "name": findings.line,
            "description": findings.text,
            "depends_on": lambda path, value: findings.items(path, value, findings.line),
            "repo": findings.line,
            "steps": self._steps,
        }

    def each(self, path: str, value: object) -> Iterator[None]:
        """Every stage for itself, one after another."""
        if not isinstance(value, list):
            self._findings.error(path, f"'{path}' must be an array")
        elif not value:
            self._findings.error(path, f"'{path}' must contain at least one stage")
        else:
            for index, stage in enumerate(value):
                self._stage(f"{path}[{index}]", stage)
                yield

    def _stage(self, path: str, value: object) -> None:
        if not isinstance(value, dict):
            self._findings.error_at(path, "stage must be a mapping")
            return
        for name in ("name", "steps"):
            if name not in value:
                message = f"{path}: missing required field '{name}'"
                self._findings.error(f"{path}.{name}", message)
        self._findings.fields(path, value, self.table)

    def _steps(self, path: str, value: object) -> None:
        self._findings.items(path, value, self._step)
        if value == []:
            self._findings.error_at(path, "must contain at least one step")

    def _step(self, path: str, value: object) -> None:
        if not isinstance(value, dict):
            self._findings.error_at(path, "step must be a mapping")
            return
        if not (value.get("title") or value.get("goal")):
            message = f"{path}: step must have a 'title' or 'goal' field"
            self._findings.error(f"{path}.title", message)
        elif value.get("title") and value.get("goal"):
            self._findings.warn_at(f"{path}.goal", "not used, because the step has a title")
        hint = ""
        if "depends_on" in value:
            hint = ", a step depends on what its stage depends on"
        self._findings.fields(path, value, self.step_table, hint)

    def together(self, data: Mapping[Any, Any]) -> None:
        """What no stage shows alone."""
        steps = steps_of(data)
        self._work.titles((path, step.get("title") or step.get("goal")) for path, step in steps)
        self._graph(data)

    def _graph(self, data: Mapping[Any, Any]) -> None:
        places: dict[str, str] = {}
        declared: list[tuple[str, list[str] | None]] = []
        for path, stage in stages_of(data):
            name = stage.get("name")
            if not isinstance(name, str) or not name.strip():
                continue
            if name.strip() in places:
                text = f"Duplicate stage name: {quoted(name.strip())}"
                self._findings.error(f"{path}.name", text)
                continue
            places[name.strip()] = path
            declared.append((name.strip(), _upstream(stage)))
        for name, upstream in declared:
            for other in dict.fromkeys(upstream or ()):
                if other not in places:
                    message = f"Stage {quoted(name)} depends on unknown stage {quoted(other)}"
                    self._findings.error(f"{places[name]}.depends_on", message)
        for cycle in graph.cycles(graph.dependencies(declared)):
            path = f"{places[cycle[0]]}.depends_on"
            self._findings.error(path, f"Cycle detected: {' -> '.join(cycle)}")


def _upstream(stage: Mapping[Any, Any]) -> list[str] | None:
    declared = stage.get("depends_on")
    if not isinstance(declared, list):
        return None
    return [name.strip() for name in declared if isinstance(name, str)]
