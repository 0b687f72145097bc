"""A real Gitea, and repositories on it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.gitea import Gitea, gitea
from tests.programs.forges.repository import BOT, BRANCHES, OWNER, SCOPES, STRANGER, Repository

_numbers = itertools.count()


@pytest.fixture(scope="module")
def server(request: pytest.FixtureRequest) -> Iterator[Gitea]:
    """Over https for a module that says `TLS = True`: our git reaches no other."""
    with gitea(tls=getattr(request.module, "TLS", False)) as server:
        for name in (OWNER, BOT, STRANGER):
            server.add_user(name)
        yield server


@pytest.fixture
def repository(server: Gitea, tmp_path: Path) -> Repository:
    name = f"app-{next(_numbers)}"
    url = server.repository(OWNER, name)
    permission = {"permission": "write"}
    server.api("PUT", f"/repos/{OWNER}/{name}/collaborators/{BOT}", user=OWNER, **permission)
    sha = server.commit(OWNER, name, "shop.py", "SHOP = 1\n", branch="main", new=BRANCHES.head)
    token = tmp_path / "token"
    token.write_text(server.token(BOT, *SCOPES))
    return Repository(server, name, url, sha, token)
