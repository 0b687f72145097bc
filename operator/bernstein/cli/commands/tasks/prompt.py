"""`bernstein prompt`"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from bernstein.agents.adapter import PROMPT_BYTES
from bernstein.api.session import AgentSession
from bernstein.cli.cluster import Cluster, connected
from bernstein.cli.errors import CliError
from bernstein.cli.output.terminal import Terminal, run_command
from bernstein.cli.settings import CliSettings
from bernstein.core import names
from bernstein.core.prompts import parts
from bernstein.core.prompts.assembly import ContextFile, assemble
from bernstein.core.sanitise import visible
from bernstein.core.serializers import Document
from bernstein.kube.resource import Object, controller_of
from bernstein.resources import SESSIONS, TASKS

_OLD_KEY = "prompt.md"
"""An older release kept the whole prompt under the session's own name."""
_MARK = "0" * 24
"""Stands for the one that the pod has drawn."""


@dataclass(frozen=True)
class Shown:
    """What can be told of a prompt from here."""

    text: str
    exact: bool
    """It is what the agent got, to the byte."""


def prompt(
    settings: CliSettings,
    name: Annotated[
        str,
        typer.Argument(
            metavar="TASK_OR_SESSION", help="Of a task its last session counts; or task/NAME."
        ),
    ],
) -> None:
    """Shows what an agent was told, as far as it is known outside of its pod."""
    terminal = Terminal(settings)
    run_command(terminal, _prompt(terminal, settings, name.removeprefix("task/")))


async def _prompt(terminal: Terminal, settings: CliSettings, name: str) -> None:
    async with connected(settings) as cluster:
        session = await _session(cluster, name)
        shown = await _read(cluster, session)
    if terminal.json:
        terminal.answer(_record(session, shown))
        return
    terminal.out.out(visible(shown.text), end="", highlight=False)
    for note in _notes(session, shown):
        terminal.complain(note, "dim")


async def _session(cluster: Cluster, name: str) -> AgentSession:
    task = await cluster.find_task(name)
    wanted = name if task is None else task.status.session
    if wanted is None:
        remedy = f"see why it waits with `bernstein logs {name}`"
        raise CliError("NoSession", f"Task '{name}' has had no session yet", remedy)
    session = await cluster.find_session(wanted)
    if session is None:
        raise await cluster.not_found(wanted, TASKS, SESSIONS)
    return session


async def _read(cluster: Cluster, session: AgentSession) -> Shown:
    name = session.metadata.name
    for config_map in (names.prompt(name), name):
        found = await cluster.config_map(config_map)
        if found is not None and _is_of(found, session):
            return shown_of(found.get("data") or {}, session)
    raise CliError(
        "NotFound",
        f"the prompt of session '{name}' is not there",
        "it is made together with the session's Job, and gone with the session",
    )


def _is_of(obj: Object, session: AgentSession) -> bool:
    return (controller_of(obj) or {}).get("uid") == session.metadata.uid


def shown_of(content: dict[str, str], session: AgentSession) -> Shown:
    """The prompt as far as a ConfigMap's content tells it. Raises CliError for no such content."""
    if _OLD_KEY in content:
        return Shown(content[_OLD_KEY], exact=True)
    given, rejected = session.status.prompt, session.spec.rejected
    texts = parts.texts_of(content)
    if rejected is not None:
        texts[parts.CHANGE] = (
            f"(What commit {rejected.sha} changes, which is at {rejected.ref}: the pod adds it.)"
        )
    # Until the pod has told, what is most likely is shown.
    texts = parts.begun(texts, resumed=given is None or given.resumed is not False)
    at = f"as it is in commit {given.base}" if given is not None else "as in its first commit"
    try:
        paths = parts.context_of(content)
    except ValueError as error:
        raise CliError("InvalidObject", f"the prompt cannot be read: {error}") from error
    files = [ContextFile(path, None, f"the pod adds it, {at}") for path in dict.fromkeys(paths)]
    made = assemble(texts, files, lambda: _MARK, PROMPT_BYTES)
    return Shown(made.text, exact=False)


def _notes(session: AgentSession, shown: Shown) -> list[str]:
    given = session.status.prompt
    notes = []
    if not shown.exact:
        notes.append(
            "Not to the byte what the agent reads: its pod adds what stands in the repository, "
            "and draws the mark."
        )
    if given is not None:
        left_out = f"; left out: {', '.join(given.cut)}" if given.cut else "; nothing was left out"
        notes.append(f"The agent's: {given.bytes:,} bytes, SHA-256 {given.digest}{left_out}.")
    return notes


def _record(session: AgentSession, shown: Shown) -> Document:
    given = session.status.prompt
    return {
        "session": session.metadata.name,
        "attempt": session.spec.attempt,
        "text": visible(shown.text),
        "exact": shown.exact,
        "digest": given.digest if given else None,
        "bytes": given.bytes if given else None,
        "base": given.base if given else None,
        "cut": [*given.cut] if given else [],
        "resumed": given.resumed if given else None,
    }
