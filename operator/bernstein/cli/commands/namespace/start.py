"""`bernstein start`"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated

import typer

from bernstein.api.plan import Plan
from bernstein.cli import suspension
from bernstein.cli.cluster import Cluster, connected
from bernstein.cli.commands.doctor import finding, installation, projects
from bernstein.cli.commands.doctor.finding import LEASE, Finding, Outcome
from bernstein.cli.errors import FAILED, INTERRUPTED
from bernstein.cli.output.terminal import Terminal, run_async
from bernstein.cli.settings import CliSettings
from bernstein.core.sanitise import count, some


def start(
    settings: CliSettings,
    lease: LEASE = finding.USUAL_LEASE,
    everything: Annotated[
        bool, typer.Option("--all", help="Resume also Plans that `stop` has not suspended.")
    ] = False,
) -> None:
    """Checks that work can run here, and resumes the Plans that `stop` has suspended.

    Ends with 1, and resumes none, where the operator, its kinds or a Project does not work.
    """
    terminal = Terminal(settings)
    try:
        code = run_async(terminal, _start(terminal, lease, everything=everything))
    except KeyboardInterrupt:
        raise typer.Exit(INTERRUPTED) from None
    raise typer.Exit(code)


async def _start(terminal: Terminal, lease: str, *, everything: bool) -> int:
    namespace, name = finding.lease(lease)
    resumed: list[Plan] = []
    left: list[Plan] = []
    async with connected(terminal.settings) as cluster:
        findings = await _look(cluster, namespace, name)
        works = all(each.outcome is not Outcome.BAD for each in findings)
        if works:
            resumed, left = await _resume(cluster, everything=everything)
        elif _may_be_resumed(findings):
            left = sorted(await _suspended(cluster), key=suspension.was_stopped, reverse=True)
    if terminal.json:
        terminal.answer(
            {
                "healthy": works,
                "checks": [each.record() for each in findings],
                "resumed": [plan.metadata.name for plan in resumed],
                "suspended": [plan.metadata.name for plan in left],
            }
        )
    else:
        finding.tell(terminal, findings)
        _tell(terminal, resumed, left, works=works)
    return 0 if works else FAILED


async def _look(cluster: Cluster, namespace: str, name: str) -> list[Finding]:
    """Whether there are the kinds, an operator that leads, and a Project that is ready."""
    now = datetime.now(UTC)
    findings = [
        await installation.definitions(cluster.client),
        await installation.leader(cluster.client, namespace, name, now),
    ]
    if findings[0].outcome is Outcome.BAD:
        return findings  # without the kinds there is nothing to read
    here = await cluster.projects()
    if not here:
        return [*findings, projects.none_in(cluster.namespace)]
    return [*findings, *map(projects.readiness, here)]


async def _resume(cluster: Cluster, *, everything: bool) -> tuple[list[Plan], list[Plan]]:
    """The Plans that go on from now on, and those that stay suspended."""
    suspended = await _suspended(cluster)
    wanted = [plan for plan in suspended if everything or suspension.was_stopped(plan)]
    resumed = [plan for plan in wanted if await suspension.change(cluster, plan, suspend=False)]
    return resumed, [plan for plan in suspended if plan not in wanted]


async def _suspended(cluster: Cluster) -> list[Plan]:
    plans = await cluster.plans()
    return [plan for plan in plans if plan.spec.suspend and suspension.can_change(plan)]


def _may_be_resumed(findings: Sequence[Finding]) -> bool:
    """Whether nothing is wrong but with Projects that there are: it may concern one agent alone."""
    bad = [each for each in findings if each.outcome is Outcome.BAD]
    return all(each.check == "project" and each.subject for each in bad)


def _tell(
    terminal: Terminal, resumed: Sequence[Plan], left: Sequence[Plan], *, works: bool
) -> None:
    if not works:
        terminal.say("Nothing was resumed.", "red")
        if left:
            stay, one = _staying(left, "suspended"), left[0].metadata.name
            goes = "it goes" if len(left) == 1 else "each goes"
            terminal.advise(f"{stay}; {goes} on all the same by `bernstein resume {one}`")
        return
    if resumed:
        names = some((plan.metadata.name for plan in resumed), len(resumed))
        verb = "goes" if len(resumed) == 1 else "go"
        terminal.say(f"{count(len(resumed), 'Plan')} {verb} on: {names}")
    else:
        terminal.say("Ready. No Plan was stopped.")
    if left:
        stay = _staying(left, "suspended, by somebody else than stop")
        terminal.advise(f"{stay}; `bernstein resume {left[0].metadata.name}`")


def _staying(left: Sequence[Plan], how: str) -> str:
    names = some((plan.metadata.name for plan in left), len(left))
    verb = "stays" if len(left) == 1 else "stay"
    return f"{count(len(left), 'Plan')} {verb} {how}: {names}"
