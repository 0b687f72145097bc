"""The tables of the reference that list what a registry has: one row for each, in its order."""

from __future__ import annotations

from collections.abc import Iterable

from pydantic.alias_generators import to_camel

from bernstein import agents
from bernstein.agents import TakesBaseUrl, TakesCommand, TellsTokens
from bernstein.api.project import Agent
from bernstein.api.signals import Assignment
from bernstein.api.vocabulary import COMPLEXITIES, ROLES, SCOPES
from bernstein.checks import gates, signals
from bernstein.checks.content.restricted import INTERNAL
from bernstein.checks.gate import Command
from bernstein.core.routing.limits import timeout_seconds
from bernstein.core.routing.table import route
from tests.unit.core import objects
from tests.unit.docs.pages import REFERENCE, ROOT, table

Row = list[str]


def signal_problems() -> list[str]:
    """plan.md: name, fields that it needs, fields that it may have."""
    expected = [
        [kind.type, _fields(map(to_camel, kind.needs)), _fields(map(to_camel, kind.takes))]
        for kind in signals.SIGNALS
    ]
    return _problems("plan.md", "Completion signals", expected)


def gate_problems() -> list[str]:
    """project.md: name, on by default, required, condition; a command is quoted."""
    expected = [
        [gate.name, _yes(gate.default_on), _yes(gate.required), gate.condition]
        for gate in gates.GATES
    ]
    found = _problems("project.md", "Built-in gates", expected)
    shown = {row[0]: row[-1] for row in table(REFERENCE / "project.md", "Built-in gates")}
    for gate in gates.GATES:
        command = f"`{gate.runs.command}`" if isinstance(gate.runs, Command) else ""
        if command not in shown.get(gate.name, command):
            found.append(f"project.md: the row of {gate.name} does not show {command}")
    row = shown.get("dlp_scan", "")
    found += [f"project.md: dlp_scan does not name .{e}" for e in INTERNAL if f"`.{e}`" not in row]
    return found


def adapter_problems() -> list[str]:
    """project.md: name, optional fields that it takes, and whether it tells tokens."""
    takes = {"command": TakesCommand, "baseUrl": TakesBaseUrl}
    expected = [
        [
            adapter.name,
            _fields(f for f, kind in takes.items() if isinstance(adapter, kind)),
            _yes(isinstance(adapter, TellsTokens)),
        ]
        for adapter in agents.ADAPTERS
    ]
    return _problems("project.md", "Adapters", expected)


def role_problems() -> list[str]:
    """roles.md: name, what it does, model and effort that it chooses, whether it gets more time."""
    page = ROOT / "docs" / "explanation" / "roles.md"
    rows = list(table(page, "The built-in roles"))
    found = [f"{row[0]} has no word on what it does" for row in rows if not row[1]]
    shown = [[name, model, time] for name, _, model, time in rows]
    expected = [[name, _model(name), _time(name)] for name in ROLES]
    return found if shown == expected else [*found, f"{shown} is not {expected}"]


def _model(role: str) -> str:
    agent = Agent(name="some", adapter="demo", image="some")
    routes = {
        route(Assignment(title="Some", role=role, scope=scope, complexity=complexity), agent)
        for scope in SCOPES
        for complexity in COMPLEXITIES
    }
    only = next(iter(routes))
    return "by the work" if len(routes) > 1 else f"{only.tier}, {only.effort}"


def _time(role: str) -> str:
    project = objects.project()
    plain, own = (timeout_seconds(objects.task(role=each), project) for each in ("backend", role))
    assert own in (plain, 2 * plain)
    return "twice" if own == 2 * plain else ""


def _problems(page: str, heading: str, expected: list[Row]) -> list[str]:
    """What is missing, wrong, out of order, or without a word about what it does."""
    rows = list(table(REFERENCE / page, heading))
    shown = {row[0]: row for row in rows}
    found = []
    for cells in expected:
        row = shown.get(cells[0])
        if row is None:
            found.append(f"{page}: '{heading}' has no row of {cells[0]}")
        elif row[:-1] != cells or not row[-1]:
            found.append(f"{page}: the row of {cells[0]} is not {cells} and a description")
    if not found and [row[0] for row in rows] != [cells[0] for cells in expected]:
        found.append(f"{page}: '{heading}' is not in the order {[c[0] for c in expected]}")
    return found


def _fields(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names) or "-"


def _yes(value: bool) -> str:
    return "yes" if value else "no"
