"""What a look at one thing has found."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

import typer

from bernstein.cli.errors import INVALID, CliError
from bernstein.cli.output.terminal import Terminal, room
from bernstein.core.sanitise import line
from bernstein.kube.client import Client
from bernstein.kube.errors import Forbidden
from bernstein.kube.resource import Object, Resource

USUAL_LEASE = "bernstein-system/bernstein-operator"
LEASE = Annotated[
    str,
    typer.Option(
        "--lease", metavar="NAMESPACE/NAME", help="The operator's Lease, as it was installed."
    ),
]


class Outcome(StrEnum):
    GOOD = "good"
    WARNING = "warning"
    """It works; somebody should know."""
    BAD = "bad"
    UNKNOWN = "unknown"
    """It could not be looked at, above all without the right to."""


@dataclass(frozen=True)
class Finding:
    check: str
    """What was looked at; a word that stays the same between releases."""
    outcome: Outcome
    message: str
    remedy: str = ""
    subject: str = ""
    """The object that it is about, where there may be several."""
    details: tuple[str, ...] = ()
    """Lines for people, as many as they will read."""
    refs: tuple[str, ...] = ()
    """All refs that it is about."""

    def record(self) -> dict[str, object]:
        """For scripts."""
        plain = {
            "check": self.check,
            "subject": self.subject,
            "outcome": self.outcome.value,
            "message": self.message,
            "remedy": self.remedy,
        }
        return plain | ({"refs": list(self.refs)} if self.refs else {})


_MESSAGE = 600
"""Characters of what was found, on a terminal."""
_SIGNS = {
    Outcome.GOOD: ("✓", "green"),
    Outcome.WARNING: ("!", "yellow"),
    Outcome.BAD: ("✗", "red"),
    Outcome.UNKNOWN: ("?", "cyan"),
}


def tell(terminal: Terminal, found: Iterable[Finding]) -> None:
    """A line for each, and what helps."""
    for each in found:
        sign, style = _SIGNS[each.outcome]
        message = line(each.message, room(terminal.people, _MESSAGE))
        terminal.say(f"{sign} {each.check}: {message}", style)
        for detail in each.details:
            terminal.quote(f"    {detail}")
        if each.remedy:
            terminal.say(f"  → {terminal.settings.placed(each.remedy)}")


def lease(text: str) -> tuple[str, str]:
    """Namespace and name of a Lease. Raises CliError."""
    namespace, slash, name = text.partition("/")
    if not (namespace and slash and name) or "/" in name:
        raise CliError("Usage", f"'{text}' names no Lease", "write NAMESPACE/NAME", INVALID)
    return namespace, name


def unreadable(check: str, what: str, subject: str = "") -> Finding:
    """You may not read it: that says nothing about it."""
    remedy = "ask somebody who may, or for the right to"
    return Finding(check, Outcome.UNKNOWN, f"you may not read {what}", remedy, subject)


async def listed(
    client: Client, resource: Resource, namespace: str | None = None
) -> Sequence[Object] | None:
    """All objects; None: they may not be listed."""
    try:
        return (await client.list(resource, namespace)).items
    except Forbidden:
        return None
