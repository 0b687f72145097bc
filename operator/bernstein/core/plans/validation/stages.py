"""What can be wrong with the stages of a plan, and with their steps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeGuard

from bernstein.core import graph
from bernstein.core.plans.field_errors import Table, quoted
from bernstein.core.plans.fields import stages_of, steps_of
from bernstein.core.plans.subtasks.rules import FIELD, NOT_ITS_OWN, broken
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
            FIELD: self._subtasks,
        }
        self.part_table: Table = {
            name: rule for name, rule in self.step_table.items() if name not in NOT_ITS_OWN
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
        if self._is_called(value, path, "step"):
            hint = ""
            if "depends_on" in value:
                hint = ", a step depends on what its stage depends on"
            self._findings.fields(path, value, self.step_table, hint)
            self._split(path, value)

    def _is_called(self, value: object, path: str, what: str) -> TypeGuard[dict[Any, Any]]:
        """Whether it is a mapping; one without a title is told of."""
        if not isinstance(value, dict):
            self._findings.error_at(path, f"{what} must be a mapping")
            return False
        if not (value.get("title") or value.get("goal")):
            message = f"{path}: {what} must have a 'title' or 'goal' field"
            self._findings.error(f"{path}.title", message)
        elif value.get("title") and value.get("goal"):
            self._findings.warn_at(f"{path}.goal", f"not used, because the {what} has a title")
        return True

    # --- what a step is split into ----------------------------------------------------------------

    def _subtasks(self, path: str, value: object) -> None:
        self._findings.items(path, value, self._subtask)
        if value == []:
            self._findings.error_at(path, "must be a list of at least one subtask")

    def _subtask(self, path: str, value: object) -> None:
        if self._is_called(value, path, "subtask"):
            own = {key: each for key, each in value.items() if key not in NOT_ITS_OWN}
            hint = ", subtasks wait for nothing: stages do that" if "depends_on" in value else ""
            self._findings.fields(path, own, self.part_table, hint)

    def _split(self, path: str, step: Mapping[Any, Any]) -> None:
        """What the subtasks of a step show only with it, and with the Project."""
        listed, files = step.get(FIELD), step.get("files")
        if not isinstance(listed, list):
            return
        place = f"{path}.{FIELD}"
        if step.get("changes") is not None:
            text = "what is split is expected to change something: its subtasks do"
            self._findings.error_at(f"{path}.changes", text)
        limits = self._work.project.limits.subtasks if self._work.project is not None else None
        if limits is not None and not limits.depth:
            self._findings.error_at(place, "the Project lets nothing be split")
        own = tuple(each for each in files if isinstance(each, str)) if _is_list(files) else ()
        most = limits.count if limits is not None and limits.depth else None
        self._findings.errors += broken(place, listed, own, most)
        entries = enumerate(listed)
        titled = ((f"{place}[{n}]", each) for n, each in entries if isinstance(each, dict))
        self._work.titles((at, each.get("title") or each.get("goal")) for at, each in titled)

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


def _is_list(value: object) -> TypeGuard[list[object]]:
    return isinstance(value, list)


def _upstream(stage: Mapping[Any, Any]) -> list[str] | None:
    declared = stage.get("depends_on")
    if not isinstance(declared, list):
        return None
    return [name.strip() for name in declared if isinstance(name, str)]
