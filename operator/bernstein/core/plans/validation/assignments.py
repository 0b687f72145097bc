"""What can be wrong with a piece of work, which a step and a node of a workflow say alike."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from bernstein.api.project import ProjectSpec
from bernstein.api.signals import LONGEST_ESTIMATE_MINUTES, LONGEST_TIMEOUT_SECONDS
from bernstein.api.vocabulary import COMPLEXITIES, EFFORTS, SCOPES
from bernstein.checks import patterns, signals
from bernstein.checks.asks import Asks
from bernstein.checks.signal import SignalKind
from bernstein.core.money import models
from bernstein.core.plans.field_errors import Findings, Table, invalid_choice, no_agent, quoted
from bernstein.core.plans.fields import EFFORT_SYNONYMS, signal

_AGENT = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?\Z")
_ROLE = re.compile(r"[a-z][-a-z0-9]{0,62}\Z")


class Assignments:
    """Judges pieces of work, in a cluster or without one."""

    def __init__(
        self, *, roles: Collection[str], project: ProjectSpec | None, in_cluster: bool
    ) -> None:
        self.findings = Findings()
        self.project = project
        self._patterns = patterns.Judge()
        self._roles = roles
        self._in_cluster = in_cluster
        self.table = self._table()
        self.signal_table = self._table_of_signal()

    def _table(self) -> Table:
        """The fields of every piece of work."""
        findings = self.findings
        return {
            "title": self.heading,
            "description": findings.text,
            "role": self.role,
            "priority": lambda path, value: findings.rank(path, value, 1, 5),
            "scope": lambda path, value: findings.choice(path, value, SCOPES),
            "complexity": lambda path, value: findings.choice(path, value, COMPLEXITIES),
            "model": self._model,
            "effort": self._effort,
            "estimated_minutes": lambda path, value: findings.integer(
                path, value, 1, LONGEST_ESTIMATE_MINUTES
            ),
            "mode": lambda path, value: findings.choice(path, value, ("batch",)),
            "cli": self.agent,
            "repo": findings.line,
            "files": self.paths,
            "completion_signals": self._signals,
            "changes": lambda path, value: findings.choice(path, value, ("none",)),
        }

    def _table_of_signal(self) -> Table:
        findings = self.findings
        return {
            "path": findings.relative_path,
            "value": findings.relative_path,
            "url": findings.loopback_url,
            "status": lambda path, value: findings.integer(path, value, 100, 599),
            "contains": findings.text,
            "regex": findings.boolean,
            "command": findings.text,
            "timeout_seconds": lambda path, value: findings.integer(
                path, value, 1, LONGEST_TIMEOUT_SECONDS
            ),
            "criteria": findings.text,
        }

    def heading(self, path: str, value: object) -> None:
        # An empty one is reported with its step, as missing.
        if value not in ("", None):
            self.findings.line(path, value)

    def role(self, path: str, value: object) -> None:
        if not self.findings.is_string(value, path) or value in self._roles:
            return
        message = invalid_choice(value, self._roles)
        if self._in_cluster or not _ROLE.match(value):
            self.findings.error_at(path, message)
        else:
            self.findings.warn_at(path, message)

    def agent(self, path: str, value: object) -> None:
        if not self.findings.line(path, value) or not isinstance(value, str) or value == "auto":
            return
        if self.project is not None:
            if self.project.agent(value) is None:
                self.findings.error_at(path, no_agent(value, self.project))
        elif not _AGENT.match(value):
            self.findings.error_at(
                path, f"must be 'auto' or the name of an agent, got {quoted(value)}"
            )

    def _model(self, path: str, value: object) -> None:
        if not self.findings.line(path, value) or not isinstance(value, str):
            return
        if self.project is not None and not models.is_known(value, self.project):
            self.findings.error_at(path, invalid_choice(value, models.known(self.project)))

    def _effort(self, path: str, value: object) -> None:
        if not isinstance(value, str) or value not in EFFORT_SYNONYMS:
            self.findings.choice(path, value, EFFORTS)

    def paths(self, path: str, value: object) -> None:
        self.findings.items(path, value, self.findings.relative_path)

    def titles(self, titled: Iterable[tuple[str, object]]) -> None:
        """Each title with the place of its work: none may stand twice."""
        counts: Counter[str] = Counter()
        for path, title in titled:
            if not isinstance(title, str) or not title.strip():
                continue
            counts[title.strip()] += 1
            if counts[title.strip()] == 2:
                self.findings.error(path, f"Duplicate task title: {quoted(title.strip())}")

    # --- signals ----------------------------------------------------------------------------------

    def _signals(self, path: str, value: object) -> None:
        self.findings.items(path, value, self._signal)

    def _signal(self, path: str, value: object) -> None:
        if not isinstance(value, dict):
            self.findings.error_at(path, "signal must be a mapping")
            return
        if "type" not in value:
            self.findings.error(f"{path}.type", f"{path}: missing required field 'type'")
            return
        kind, known = value["type"], signals.types()
        if kind in known:
            self._signal_of(signals.of(kind), path, signal(value))
        else:
            self.findings.choice(f"{path}.type", kind, known)

    def _signal_of(self, kind: SignalKind, path: str, value: Mapping[Any, Any]) -> None:
        for name in kind.needs:
            if value.get(name) in ("", None):
                self.findings.error(f"{path}.{name}", f"{path}: missing required field '{name}'")
        given = {key: item for key, item in value.items() if key != "type" and item is not None}
        for key, item in given.items():
            if isinstance(key, str) and key in self.signal_table and key not in kind.fields:
                self.findings.error_at(f"{path}.{key}", f"{kind.type} takes no '{key}'")
            elif item != "":
                self.findings.fields(path, {key: item}, self.signal_table)
        if isinstance(kind.runs, Asks) and self.project is not None and not self.project.models:
            self.findings.error_at(f"{path}.type", f"{kind.type}: the Project has no 'models'")
        if value.get("regex") is True:
            self._regular_expression(f"{path}.contains", value.get("contains"))

    def _regular_expression(self, path: str, value: object) -> None:
        problem = self._patterns.problem(value) if isinstance(value, str) else None
        if problem is not None:
            self.findings.error_at(path, f"invalid regular expression: {problem}")
