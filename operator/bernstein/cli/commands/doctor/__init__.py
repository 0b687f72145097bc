"""`bernstein doctor`"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated

import typer

from bernstein.cli.cluster import Cluster, connected
from bernstein.cli.commands.doctor import (
    finding,
    images,
    installation,
    platform,
    projects,
    refs,
    rights,
    work,
)
from bernstein.cli.commands.doctor.finding import LEASE, Finding, Outcome, unreadable
from bernstein.cli.errors import FAILED, INTERRUPTED
from bernstein.cli.output.terminal import Terminal, run_async
from bernstein.cli.settings import CliSettings
from bernstein.core.sanitise import count
from bernstein.kube.errors import Forbidden


def doctor(
    settings: CliSettings,
    lease: LEASE = finding.USUAL_LEASE,
    with_refs: Annotated[
        bool, typer.Option("--refs/--no-refs", help="Look at the repositories' refs with your git.")
    ] = True,
) -> None:
    """Looks for what is wrong with the installation, and in the namespace.

    Ends with 1 where something is wrong; what you may not read is told as unknown.
    """
    terminal = Terminal(settings)
    try:
        code = run_async(terminal, _doctor(terminal, settings, lease, with_refs))
    except KeyboardInterrupt:
        code = INTERRUPTED
    raise typer.Exit(code)


async def _doctor(terminal: Terminal, settings: CliSettings, lease: str, with_refs: bool) -> int:
    namespace, name = finding.lease(lease)
    async with connected(settings) as cluster:
        findings = await _look(cluster, (namespace, name), with_refs)
    wrong = any(each.outcome is Outcome.BAD for each in findings)
    if terminal.json:
        terminal.answer({"healthy": not wrong, "checks": [each.record() for each in findings]})
    else:
        finding.tell(terminal, findings)
        terminal.say(_summary(findings))
    return FAILED if wrong else 0


async def _look(cluster: Cluster, lease: tuple[str, str], with_refs: bool) -> list[Finding]:
    now = datetime.now(UTC)
    kinds = await installation.definitions(cluster.client)
    findings = [
        await platform.version(cluster.client),
        kinds,
        await installation.leader(cluster.client, *lease, now),
        await platform.metrics(cluster.client, *lease),
        await installation.policies(cluster.client, lease[1]),
        await platform.network(cluster.client),
    ]
    if kinds.outcome is Outcome.BAD:
        return findings  # without the kinds there is nothing to read
    findings += await rights.look(cluster, lease)
    try:
        here = await cluster.projects()
    except Forbidden:
        here = []
        findings.append(unreadable("project", f"Projects in namespace '{cluster.namespace}'"))
    else:
        findings += await projects.look(cluster, here)
        findings += await images.look(cluster, here)
    findings += await work.look(cluster)
    if with_refs and here:
        findings += await refs.look(cluster, here)
    return findings


def _summary(findings: Sequence[Finding]) -> str:
    bad = sum(each.outcome is Outcome.BAD for each in findings)
    unknown = sum(each.outcome is Outcome.UNKNOWN for each in findings)
    unseen = f" {count(unknown, 'check')} could not be made." if unknown else ""
    if bad:
        return f"{count(bad, 'problem')} found.{unseen}"
    return f"Nothing wrong in what could be looked at.{unseen}" if unknown else "Nothing is wrong."
