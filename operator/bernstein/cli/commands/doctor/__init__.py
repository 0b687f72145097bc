"""`bernstein doctor`"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated

import typer

from bernstein.cli.cluster import Cluster, connected
from bernstein.cli.commands.doctor import installation, projects, refs
from bernstein.cli.commands.doctor.finding import Finding, Outcome
from bernstein.cli.errors import FAILED, INTERRUPTED, INVALID, CliError
from bernstein.cli.output.terminal import Terminal, run_async
from bernstein.cli.settings import CliSettings
from bernstein.core.sanitise import count

_SIGNS = {
    Outcome.GOOD: ("✓", "green"),
    Outcome.WARNING: ("!", "yellow"),
    Outcome.BAD: ("✗", "red"),
    Outcome.UNKNOWN: ("?", "cyan"),
}


def doctor(
    settings: CliSettings,
    lease: Annotated[
        str,
        typer.Option(
            "--lease", metavar="NAMESPACE/NAME", help="The operator's Lease, as it was installed."
        ),
    ] = "bernstein-system/bernstein-operator",
    with_refs: Annotated[
        bool, typer.Option("--refs/--no-refs", help="Look at the repositories' refs with your git.")
    ] = True,
) -> None:
    """Looks for what is wrong with the installation and with the Projects of the namespace.

    Ends with 1 where something is wrong; what you may not read is told as unknown.
    """
    terminal = Terminal(settings)
    try:
        code = run_async(terminal, _doctor(terminal, settings, lease, with_refs))
    except KeyboardInterrupt:
        code = INTERRUPTED
    raise typer.Exit(code)


async def _doctor(terminal: Terminal, settings: CliSettings, lease: str, with_refs: bool) -> int:
    namespace, slash, name = lease.partition("/")
    if not (namespace and slash and name) or "/" in name:
        message = f"'{lease}' names no Lease"
        raise CliError("Usage", message, "write NAMESPACE/NAME", INVALID)
    async with connected(settings) as cluster:
        found = await _look(cluster, (namespace, name), with_refs)
    wrong = any(each.outcome is Outcome.BAD for each in found)
    if terminal.json:
        terminal.answer({"healthy": not wrong, "checks": [each.record() for each in found]})
    else:
        _tell(terminal, found)
    return FAILED if wrong else 0


async def _look(cluster: Cluster, lease: tuple[str, str], with_refs: bool) -> list[Finding]:
    now = datetime.now(UTC)
    found = [
        await installation.definitions(cluster.client),
        await installation.leader(cluster.client, *lease, now),
        await installation.policies(cluster.client, lease[1]),
    ]
    if found[0].outcome is Outcome.BAD:
        return found  # without the kinds there is nothing to read
    here = await cluster.projects()
    found += await projects.look(cluster, here)
    if with_refs and here:
        found += await refs.look(cluster, here)
    return found


def _tell(terminal: Terminal, found: Sequence[Finding]) -> None:
    for each in found:
        sign, style = _SIGNS[each.outcome]
        terminal.say(f"{sign} {each.check}: {each.message}", style)
        for line in each.details:
            terminal.quote(f"    {line}")
        if each.remedy:
            terminal.say(f"  → {each.remedy}")
    terminal.say(_summary(found))


def _summary(found: Sequence[Finding]) -> str:
    bad = sum(each.outcome is Outcome.BAD for each in found)
    unknown = sum(each.outcome is Outcome.UNKNOWN for each in found)
    unseen = f" {count(unknown, 'check')} could not be made." if unknown else ""
    if bad:
        return f"{count(bad, 'problem')} found.{unseen}"
    return f"Nothing wrong in what could be looked at.{unseen}" if unknown else "Nothing is wrong."
