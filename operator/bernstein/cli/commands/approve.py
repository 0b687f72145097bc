"""`bernstein approve`"""

from __future__ import annotations

from typing import Annotated

import typer

from bernstein.api.plan import Plan
from bernstein.cli import decisions
from bernstein.cli.cluster import connected
from bernstein.cli.decisions import Decision, Seen
from bernstein.cli.naming import Subject
from bernstein.cli.output.terminal import Terminal, run_command
from bernstein.cli.settings import CliSettings
from bernstein.core.sanitise import line, text
from bernstein.core.serializers import plan_record, task_record

ApprovalSeen = Annotated[
    str | None,
    typer.Option(
        "--approval", metavar="NAME", help="Only this question: the name that `pending` tells."
    ),
]
ShaSeen = Annotated[
    str | None,
    typer.Option("--sha", metavar="COMMIT", help="Only this commit, or what it begins with."),
]

_EXCERPT = 600
"""Characters of what a gate has found, or printed."""


def approve(
    settings: CliSettings,
    name: Subject,
    reason: Annotated[
        str, typer.Option("--reason", "-r", metavar="TEXT", help="Recorded with it.")
    ] = "",
    approval: ApprovalSeen = None,
    sha: ShaSeen = None,
) -> None:
    """Approves the work of a task, or a Plan that waits to begin.

    Exactly what was verified is approved: work that changes afterwards is asked about anew. Where a
    gate has said no, it goes on without that, and a reason must be given. With --approval or --sha
    nothing is written where something else is asked by then: so the call may be repeated.
    """
    terminal = Terminal(settings)
    seen = Seen(approval, sha.lower() if sha is not None else None)
    run_command(terminal, decided(terminal, name, "Approve", reason.strip(), seen))


async def decided(
    terminal: Terminal, name: str, decision: Decision, reason: str, seen: Seen
) -> None:
    """Decides, and shows what has become of it."""
    decisions.check_reason(reason)
    seen.check()
    async with connected(terminal.settings) as cluster:
        outcome = await decisions.decide(cluster, name, decision, reason, seen)
    subject = outcome.subject
    if terminal.json:
        terminal.answer(plan_record(subject) if isinstance(subject, Plan) else task_record(subject))
        return
    terminal.say(terminal.settings.placed(decisions.told(outcome)))
    for why in outcome.asked.because if isinstance(subject, Plan) else ():
        terminal.quote(f"    asked because {line(why, _EXCERPT)}", "dim")
    for row in text(decisions.gate_says(subject, outcome.asked), _EXCERPT).splitlines():
        terminal.quote(f"    {row}", "dim")
