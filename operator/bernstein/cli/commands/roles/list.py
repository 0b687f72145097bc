"""`bernstein roles list`"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

from bernstein.api.project import Project
from bernstein.api.roles.role import MOST_TASKS, AgentRole, AgentRoleSpec
from bernstein.api.vocabulary import ROLES
from bernstein.cli.cluster import Cluster, connected
from bernstein.cli.output import tables
from bernstein.cli.output.terminal import Terminal, run_command
from bernstein.cli.settings import CliSettings
from bernstein.core.money import models
from bernstein.core.roles.judged import problems
from bernstein.core.roles.known import BUILT_IN
from bernstein.core.routing.table import TOP_ROLES
from bernstein.core.sanitise import line
from bernstein.kube.errors import Forbidden

_BUILT_IN, _OVERRIDES, _OWN = "built-in", "AgentRole, overrides the built-in one", "AgentRole"
_LONGEST = 300


def list(settings: CliSettings) -> None:  # noqa: A001 - the word that is typed
    """Lists the roles that steps and tasks may have.

    Those that are built in, and the AgentRoles of the namespace: which of them override a built-in
    one, with which model and effort, and which cannot be used.
    """
    terminal = Terminal(settings)
    run_command(terminal, _list(terminal))


async def _list(terminal: Terminal) -> None:
    async with connected(terminal.settings) as cluster:
        own = {role.metadata.name: role for role in await cluster.roles()}
        projects = await _projects(cluster)
    records = [*_records(own, projects)]
    if terminal.json:
        terminal.answer(records)
        return
    terminal.show(_table(records))
    for name, role in own.items():
        for problem in problems(name, role.spec)[:1]:
            words = line(problem, _LONGEST)
            terminal.complain(f"AgentRole '{name}' cannot be used: {words}", "yellow")
    for record in records:
        if strangers := record["model_unknown_to"]:
            told = line(models.unknown(record["model"], strangers), _LONGEST)
            words = f"AgentRole '{record['name']}': {told}: their Tasks of this role wait"
            terminal.complain(f"{words} (ModelNotFound)", "yellow")


async def _projects(cluster: Cluster) -> Sequence[Project] | None:
    """Those of the namespace; None: the caller may not read them."""
    try:
        return await cluster.projects()
    except Forbidden:
        return None


def _records(
    own: Mapping[str, AgentRole], projects: Sequence[Project] | None
) -> Iterator[dict[str, Any]]:
    for name in sorted({*BUILT_IN, *own}):
        role = own.get(name)
        spec = role.spec if role is not None else None
        yield {
            "name": name,
            "built_in": name in ROLES,
            "agent_role": role is not None,
            "overrides": role is not None and name in ROLES,
            "valid": spec is None or not problems(name, spec),
            "model": (spec.model if spec is not None else None) or _usual(name),
            "effort": (spec.effort if spec is not None else None) or _usual(name, "max"),
            "model_unknown_to": _strangers(spec, projects),
            "max_tasks_per_session": MOST_TASKS,
            "description": spec.description if spec is not None else None,
        }


def _strangers(
    spec: AgentRoleSpec | None, projects: Sequence[Project] | None
) -> Sequence[str] | None:
    """Projects that do not know the model of the AgentRole; None: nobody can say."""
    if spec is None:
        return ()
    return models.strangers(spec.model, projects) if projects is not None else None


def _usual(name: str, top: str = "opus") -> str | None:
    """What a role has whose AgentRole says nothing; None: it depends on the task."""
    return top if name in TOP_ROLES else None


def _table(records: Sequence[Mapping[str, Any]]) -> Table:
    table = tables.empty()
    for column in ("ROLE", "FROM", "MODEL", "EFFORT", "DESCRIPTION"):
        table.add_column(column, no_wrap=True, overflow="ellipsis")
    for record in records:
        of = _OVERRIDES if record["overrides"] else _OWN if record["agent_role"] else _BUILT_IN
        if not record["valid"]:
            of += ", not valid"
        model = line(record["model"] or "by task", _LONGEST)
        is_known = not record["model_unknown_to"]
        table.add_row(
            Text(record["name"]),
            Text(of, "" if record["valid"] else "red"),
            Text(model if is_known else f"{model}, not known", "" if is_known else "red"),
            Text(record["effort"] or "by task"),
            Text(line(record["description"] or "", _LONGEST)),
        )
    return table
