"""`bernstein roles apply`"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any

import typer

from bernstein.api.meta import API_VERSION, ROLE_KIND
from bernstein.api.roles import role as roles
from bernstein.api.roles.role import AgentRole, AgentRoleSpec
from bernstein.api.vocabulary import ROLES as BUILT_IN
from bernstein.cli.cluster import Cluster, connected
from bernstein.cli.errors import INVALID, CliError
from bernstein.cli.local import role_folder
from bernstein.cli.output.terminal import Terminal, run_command
from bernstein.cli.settings import CliSettings
from bernstein.core.roles.judged import clamped, problems
from bernstein.core.sanitise import line
from bernstein.kube.errors import AlreadyExists
from bernstein.resources import ROLES

_NAME = re.compile(r"[a-z][-a-z0-9]{0,62}\Z")
_SHOWN = 20
"""Problems that are told."""


def apply(
    settings: CliSettings,
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="DIR", help="Holds system_prompt.md, task_prompt.md, config.yaml; one will do."
        ),
    ],
    name: Annotated[
        str | None,
        typer.Option("--name", metavar="NAME", help="Of the role; absent: the folder's."),
    ] = None,
) -> None:
    """Makes an AgentRole of the three files of a folder, or changes it to what they say.

    The templates may name what a task says, such as {{TASK_TITLE}}. One of the name of a built-in
    role takes its place. Ends with 2 when the files are not valid.
    """
    terminal = Terminal(settings)
    called = name if name is not None else folder.resolve().name
    run_command(terminal, _apply(terminal, folder, called))


async def _apply(terminal: Terminal, folder: Path, called: str) -> None:
    if not _NAME.match(called):
        text = f"'{line(called, 80)}' is no name of a role"
        remedy = "give at most 63 lower-case letters, digits and '-', a letter first, with --name"
        raise CliError("InvalidName", text, remedy, INVALID)
    found = role_folder.read(folder)
    if found.problems:
        _refuse(terminal, found.problems)
    spec = role_folder.spec_of(found)
    if told := problems(called, spec):
        _refuse(terminal, told)
    async with connected(terminal.settings) as cluster:
        role, what = await _put(cluster, called, spec)
        place = f"in namespace '{cluster.namespace}'"
    if terminal.json:
        terminal.answer({"name": called, "result": what, "overrides": called in BUILT_IN})
    terminal.say(f"AgentRole '{called}' {what} {place}")
    if called in BUILT_IN:
        terminal.say("  it overrides the built-in role of this name")
    if words := clamped(role.spec):
        terminal.complain(f"! {words}", "yellow")


def _refuse(terminal: Terminal, found: tuple[str, ...]) -> None:
    """Tells what is wrong, and ends the program with 2."""
    if terminal.json:
        terminal.answer({"errors": [*found]})
    for problem in found[:_SHOWN]:
        terminal.complain(f"✗ {line(problem, 1000)}", "red")
    if len(found) > _SHOWN:
        terminal.complain(f"  … and {len(found) - _SHOWN} more")
    raise typer.Exit(INVALID)


async def _put(cluster: Cluster, name: str, spec: AgentRoleSpec) -> tuple[AgentRole, str]:
    """The AgentRole as it is in the cluster now, and what was done for that."""
    live = await cluster.find_role(name)
    if live is None:
        body = {
            "apiVersion": API_VERSION,
            "kind": ROLE_KIND,
            "metadata": {"name": name, "namespace": cluster.namespace},
            "spec": spec.dump(),
        }
        try:
            return roles.parse(await cluster.client.create(ROLES, body)), "created"
        except AlreadyExists:
            live = await cluster.find_role(name)
            if live is None:
                raise
    if live.spec == spec:
        return live, "unchanged"
    changed = await cluster.client.patch(ROLES, name, cluster.namespace, {"spec": _whole(spec)})
    return roles.parse(changed), "changed"


def _whole(spec: AgentRoleSpec) -> dict[str, Any]:
    """Every field, so that what the files do not say goes."""
    return spec.model_dump(mode="json", by_alias=True)
