"""How a hook begins and ends: one line that says what is wrong, one that says what helps."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from bernstein.kube.client import Client
from bernstein.kube.config import ConnectionInfo
from bernstein.kube.errors import KubeError


@dataclass
class Failed(Exception):  # noqa: N818 - it is what the hook has found, not an error of its own
    """The hook says no."""

    reason: str
    """In one word that stays the same between releases."""
    message: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.reason}: {self.message}\nRemedy: {self.remedy}"


def say(text: str) -> None:
    """A line for whoever reads the log of the Job."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def run(hook: Callable[[Client], Awaitable[None]]) -> None:
    """Runs it with the account of its pod; ends with 1 where it has failed."""
    try:
        asyncio.run(_connected(hook))
    except Failed as failed:
        sys.exit(str(failed))
    except KubeError as error:
        remedy = "look whether the API server is well, and try again"
        sys.exit(str(Failed(error.reason, error.gist, remedy)))


async def _connected(hook: Callable[[Client], Awaitable[None]]) -> None:
    async with Client(ConnectionInfo.load()) as client:
        await hook(client)
