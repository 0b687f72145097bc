"""A repository with work on a branch, on a real Gitea."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import httpx
import pytest

from bernstein.forges.client import Client
from bernstein.forges.errors import ForgeError
from bernstein.forges.forge import Branches, Description, PullRequest, Steps
from bernstein.forges.gitea import GITEA
from bernstein.forges.operations import ensure
from tests.gitea import Gitea

T = TypeVar("T")
OWNER, BOT, STRANGER = "ann", "bot", "stranger"
BRANCHES = Branches("bernstein/shop-12345678", "main")
WANTED = Description("Add a shop", "Verified:\n\n| check | verdict |\n", labels=("bernstein",))
SCOPES = ("write:repository", "write:issue")


@dataclass
class Repository:
    """One with work on a branch, and an account that may push to it."""

    server: Gitea
    name: str
    url: str
    sha: str
    token: Path
    transport: httpx.AsyncBaseTransport | None = None

    def run(self, steps: Steps[T]) -> T:
        async def all_of_it() -> T:
            async with self.client() as client:
                return await client.run(steps)

        return asyncio.run(all_of_it())

    def client(self) -> Client:
        return Client(GITEA, self.url, str(self.token), transport=self.transport)

    @property
    def at(self) -> Any:
        return GITEA.locate(self.url)

    def open(self, wanted: Description = WANTED) -> PullRequest:
        return self.run(ensure(GITEA, self.at, BRANCHES, wanted))

    def api(self, method: str, path: str, user: str = OWNER, **body: Any) -> Any:
        return self.server.api(method, f"/repos/{OWNER}/{self.name}{path}", user=user, **body)

    def failure(self) -> ForgeError:
        with pytest.raises(ForgeError) as failed:
            self.open()
        assert self.token.read_text() not in str(failed.value) + failed.value.said
        return failed.value
