"""What an argument or option could become that names an object: asked of the cluster, quickly.

A shell waits for it while somebody types. So it takes a second at most, is bounded, prints nothing,
changes nothing, and knows nothing rather than to fail.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import fields
from typing import Any, Final

from bernstein.cli.settings import CliSettings

SECONDS: Final = 1.0
MOST: Final = 200
"""Names that a shell is told."""
_READ: Final = 500
"""Objects that are looked at: one page."""
_MOST_BYTES: Final = 16 << 20
_NAME = re.compile(r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?\Z")
_CONTEXT = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.@:/+-]{0,252}\Z")
"""What needs no quotes in any shell; others are typed."""

PLANS, TASKS, SESSIONS, APPROVALS = "plans", "tasks", "sessions", "approvals"
PROJECTS, NAMESPACES, CONTEXTS = "projects", "namespaces", "contexts"
_OF_WORDS: Final[Mapping[str, tuple[str, ...]]] = {
    "PLAN": (PLANS,),
    "PLAN_OR_FILE": (PLANS,),
    "TASK": (TASKS,),
    "TASK_ID": (TASKS,),
    "TASK_OR_PLAN": (TASKS, PLANS),
    "TASK_OR_SESSION": (TASKS, SESSIONS),
    "TASK_SESSION_OR_PLAN": (TASKS, SESSIONS, PLANS),
}
"""By the word that stands for it in a usage line."""
_OF_OPTIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "--namespace": (NAMESPACES,),
    "--context": (CONTEXTS,),
    "--project": (PROJECTS,),
    "--approval": (APPROVALS,),
}
"""Of those whose word is NAME."""


def kinds_of(metavar: str | None, options: list[str]) -> tuple[str, ...]:
    """Of what a parameter takes names; (): of nothing."""
    word = (metavar or "").strip("[].")
    if word == "NAME":
        return next((_OF_OPTIONS[each] for each in options if each in _OF_OPTIONS), ())
    return _OF_WORDS.get(word, ())


def completed(kinds: tuple[str, ...], given: Mapping[str, Any], incomplete: str) -> list[str]:
    """Names that begin like `incomplete`, in their order. `given`: the options of the call."""
    said = {each.name: given[each.name] for each in fields(CliSettings) if given.get(each.name)}
    settings = CliSettings(**said)
    found: list[str] = []
    with _silent(), suppress(Exception, SystemExit):
        ask = _asking(kinds, settings)  # what it loads takes a while, and waits for nobody
        _within(SECONDS, lambda: ask(found))
    form = _CONTEXT if kinds == (CONTEXTS,) else _NAME
    fit = {each for each in [*found] if each.startswith(incomplete) and form.match(each)}
    return sorted(fit)[:MOST]


def _within(seconds: float, work: Callable[[], object]) -> None:
    """Does it for so long at most; what is not done then is left to end with us."""

    def worked() -> None:
        with suppress(Exception, SystemExit):
            work()

    thread = threading.Thread(target=worked, daemon=True)
    thread.start()
    thread.join(seconds)


@contextmanager
def _silent() -> Iterator[None]:
    """Nothing gets to the terminal, also from a program that fetches a token: it is in the middle
    of a line that somebody types."""
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


def _asking(kinds: tuple[str, ...], settings: CliSettings) -> Callable[[list[str]], object]:
    """What puts the names into a list, once all that it needs is loaded."""
    from kubernetes.config import kube_config

    if kinds == (CONTEXTS,):
        return lambda found: found.extend(_contexts(kube_config, settings.kubeconfig))
    import asyncio

    from bernstein import resources
    from bernstein.cli.local import configuration
    from bernstein.kube.client import Client
    from bernstein.kube.config import ConnectionInfo
    from bernstein.kube.errors import KubeError
    from bernstein.kube.resource import Resource

    known = {
        PLANS: resources.PLANS,
        TASKS: resources.TASKS,
        SESSIONS: resources.SESSIONS,
        APPROVALS: resources.APPROVALS,
        PROJECTS: resources.PROJECTS,
        NAMESPACES: Resource("", "v1", "namespaces", "Namespace", namespaced=False),
    }

    async def listed(found: list[str]) -> None:
        chosen = configuration.completed(settings)
        connection = ConnectionInfo.load(chosen.kubeconfig, chosen.context)
        where = chosen.namespace or connection.namespace
        async with Client(connection, timeout=SECONDS) as client:
            for kind in kinds:
                with suppress(KubeError):
                    page = await client.first_page(
                        known[kind], where, {}, limit=_READ, most_bytes=_MOST_BYTES
                    )
                    found.extend(item["metadata"]["name"] for item in page)

    return lambda found: asyncio.run(listed(found))


def _contexts(library: Any, kubeconfig: str | None) -> list[str]:
    merged = library.KubeConfigMerger(kubeconfig or library.KUBE_CONFIG_DEFAULT_LOCATION)
    return [each["name"] for each in merged.config["contexts"]]
