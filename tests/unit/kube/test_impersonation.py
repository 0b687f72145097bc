"""As whom a kubeconfig has its user act: read as kubectl does, and sent with every request."""

from __future__ import annotations

from contextlib import aclosing, suppress
from pathlib import Path

import pytest
from aiohttp import test_utils, web

from bernstein.kube.client import Client
from bernstein.kube.config import ConnectionInfo
from bernstein.kube.errors import ConfigError, KubeError
from bernstein.kube.resource import PODS
from tests.unit.kube.test_config import kubeconfig


def test_a_user_that_acts_as_another_one_sends_what_kubectl_sends(tmp_path: Path) -> None:
    user: dict[str, object] = {
        "token": "secret",
        "as": "jane",
        "as-uid": "42",
        "as-groups": ["reviewers", "system:authenticated"],
        "as-user-extra": {"example.org/Team%": ["a", "b c"], "scopes": ["view"]},
    }
    assert ConnectionInfo.from_kubeconfig(kubeconfig(tmp_path, user)).impersonation == (
        ("Impersonate-User", "jane"),
        ("Impersonate-Uid", "42"),
        ("Impersonate-Group", "reviewers"),
        ("Impersonate-Group", "system:authenticated"),
        ("Impersonate-Extra-example.org%2FTeam%25", "a"),
        ("Impersonate-Extra-example.org%2FTeam%25", "b c"),
        ("Impersonate-Extra-scopes", "view"),
    )


def test_a_user_that_acts_as_itself_sends_nothing_more(tmp_path: Path) -> None:
    path = kubeconfig(tmp_path, {"token": "secret", "as": "", "as-groups": []})
    assert ConnectionInfo.from_kubeconfig(path).impersonation == ()


def test_of_several_files_the_user_of_the_first_one_that_has_it_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "first").mkdir()
    (tmp_path / "second").mkdir()
    first = kubeconfig(tmp_path / "first", {"as": "jane"})
    second = kubeconfig(tmp_path / "second", {"as": "root"})
    connection = ConnectionInfo.from_kubeconfig(f"{first}:{second}", "x")
    assert connection.impersonation == (("Impersonate-User", "jane"),)


@pytest.mark.parametrize(
    "user", [{"as-uid": "42"}, {"as-groups": ["reviewers"]}, {"as-user-extra": {"k": ["v"]}}]
)
def test_groups_or_a_uid_of_nobody_are_refused(tmp_path: Path, user: dict[str, object]) -> None:
    with pytest.raises(ConfigError, match="without 'as'; name in 'as' the user to act as"):
        ConnectionInfo.from_kubeconfig(kubeconfig(tmp_path, user))


@pytest.mark.parametrize(
    ("field", "user"),
    [
        ("as", {"as": 5}),
        ("as", {"as": "jane\r\nImpersonate-Group: system:masters"}),
        ("as-uid", {"as": "jane", "as-uid": ["42"]}),
        ("as-groups", {"as": "jane", "as-groups": "reviewers"}),
        ("as-groups", {"as": "jane", "as-groups": [None]}),
        ("as-user-extra", {"as": "jane", "as-user-extra": ["k"]}),
        ("as-user-extra", {"as": "jane", "as-user-extra": {"k": "v"}}),
        ("as-user-extra", {"as": "jane", "as-user-extra": {1: ["v"]}}),
    ],
)
def test_what_no_header_can_carry_is_refused(
    tmp_path: Path, field: str, user: dict[str, object]
) -> None:
    with pytest.raises(ConfigError, match=f"'{field}' is not made of plain text; write it"):
        ConnectionInfo.from_kubeconfig(kubeconfig(tmp_path, user))


async def test_every_request_says_as_whom_it_is_made() -> None:
    who = (
        ("Impersonate-User", "jane"),
        ("Impersonate-Group", "one"),
        ("Impersonate-Group", "two"),
        ("Impersonate-Extra-example.org%2Fteam", "a"),
    )
    heard: list[tuple[str, list[tuple[str, str]]]] = []

    async def answer(request: web.Request) -> web.Response:
        sent = [(k, v) for k, v in request.headers.items() if k.startswith("Impersonate-")]
        heard.append((f"{request.method} {request.path_qs.partition('&')[0]}", sent))
        return web.json_response({"items": [], "metadata": {"resourceVersion": "1"}})

    app = web.Application()
    app.router.add_route("*", "/{tail:.*}", answer)
    async with test_utils.TestServer(app) as server:
        connection = ConnectionInfo(server=str(server.make_url("")), impersonation=who)
        async with Client(connection) as client:
            await client.list(PODS, "ns")
            await client.create(PODS, {"metadata": {"name": "p", "namespace": "ns"}})
            await client.delete(PODS, "p", "ns")
            await client.logs("ns", "p")
            await client.with_timeout(5).get(PODS, "p", "ns")
            with suppress(KubeError, StopAsyncIteration):
                async with aclosing(client.watch(PODS, "ns", resource_version="1")) as stream:
                    await anext(stream)

    assert [method.partition(" ")[0] for method, _ in heard] == [
        *("GET", "POST", "DELETE", "GET", "GET", "GET")
    ]
    assert "watch=true" in heard[-1][0]
    assert all(sent == list(who) for _, sent in heard)
