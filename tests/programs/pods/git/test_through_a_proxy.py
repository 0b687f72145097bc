"""git and our HTTP client through a real proxy: it opens a tunnel and is told nothing else."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from bernstein.api.pod import Remote
from bernstein.api.programs.probe import ProbeConfig, ProbeResult
from bernstein.pods.git import client as git
from bernstein.pods.git import permission
from bernstein.pods.programs import probe
from bernstein.urls import MORE_CA, NO_PROXY, PROXY
from bernstein.web import exchange
from bernstein.web.address import trusted
from tests.programs.pods.conftest import Origin
from tests.programs.pods.connect_proxy import Proxy, running
from tests.programs.pods.git_server import USERS, GitServer, certificate

WORK = "refs/bernstein/01234567/task/s1"


@pytest.fixture
def proxy(monkeypatch: pytest.MonkeyPatch) -> Iterator[Proxy]:
    """One that our programs are told of."""
    with running() as proxy:
        monkeypatch.setenv(PROXY, proxy.url)
        yield proxy


def ours(tmp_path: Path, origin: Origin) -> git.Git:
    return git.Git(git.init_bare(tmp_path / "own.git").git_dir, origin.remote("work"))


def test_git_fetches_and_pushes_in_a_tunnel_and_the_proxy_hears_no_credential(
    tmp_path: Path, origin: Origin, proxy: Proxy
) -> None:
    first = origin.commit({"a": "1"}, ref="refs/heads/main")
    before = len(origin.server.requests)
    repository = ours(tmp_path, origin)

    repository.fetch(["refs/heads/main:refs/heads/main"])
    repository.push(WORK, first, None)

    assert origin.tip(WORK) == first
    assert proxy.asked_for == {f"CONNECT localhost:{origin.server.port} HTTP/1.1"}
    assert {r.user for r in origin.server.requests[before:]} == {None, "work"}
    told = "\n".join(proxy.told)
    secret = base64.b64encode(f"work:{USERS['work']}".encode()).decode()
    assert "authorization" not in told.lower()
    assert not [each for each in (secret, USERS["work"]) if each in told]
    server = [r.headers for r in origin.server.requests[before:]]
    assert not [name for headers in server for name in headers if "proxy" in name.lower()]


def test_a_redirect_is_followed_nowhere_through_a_proxy_either(
    tmp_path: Path, origin: Origin, proxy: Proxy, tmp_path_factory: pytest.TempPathFactory
) -> None:
    origin.commit({"a": "1"}, ref="refs/heads/main")
    trap = GitServer(tmp_path_factory.mktemp("trap"))
    origin.server.redirect_to = f"https://127.0.0.1:{trap.port}"
    try:
        with pytest.raises(git.GitError):
            ours(tmp_path, origin).read_ref("main")
        assert trap.requests == []
        assert proxy.asked_for == {f"CONNECT localhost:{origin.server.port} HTTP/1.1"}
    finally:
        origin.server.redirect_to = None
        trap.close()


@pytest.mark.parametrize("direct", ["localhost", "elsewhere,LOCALHOST."])
def test_a_host_that_is_reached_without_the_proxy_is(
    tmp_path: Path,
    origin: Origin,
    proxy: Proxy,
    direct: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first = origin.commit({"a": "1"}, ref="refs/heads/main")
    monkeypatch.setenv(NO_PROXY, direct)

    assert ours(tmp_path, origin).read_ref("main") == first
    assert proxy.told == []


def test_a_proxy_that_lets_nobody_through_is_told_apart_from_the_server(
    tmp_path: Path, origin: Origin, proxy: Proxy
) -> None:
    proxy.refuses = True

    with pytest.raises(git.GitError, match=r"network\.proxy") as refused:
        ours(tmp_path, origin).read_ref("main")

    assert refused.value.reason == "RepositoryUnreachable"


def test_a_proxy_that_is_not_there_is_told_apart_from_the_server(
    tmp_path: Path, origin: Origin, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(PROXY, "http://proxy.invalid:3128")

    with pytest.raises(git.GitError, match=r"network\.proxy") as refused:
        ours(tmp_path, origin).read_ref("main")

    assert refused.value.reason == "RepositoryUnreachable"


def test_variables_that_a_cluster_gives_to_every_container_name_no_proxy(
    tmp_path: Path, origin: Origin, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = origin.commit({"a": "1"}, ref="refs/heads/main")
    with running() as proxy:
        for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, proxy.url)
        assert ours(tmp_path, origin).read_ref("main") == first
        assert proxy.told == []


@pytest.mark.parametrize("direct", [False, True])
async def test_who_asks_models_and_forges_does_so_in_a_tunnel(
    origin: Origin, proxy: Proxy, direct: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(NO_PROXY, "localhost" if direct else "")
    to = httpx.URL(f"https://localhost:{origin.server.port}/")
    async with exchange.client(trusted(origin.server.ca_file), to) as http:
        asked = http.build_request("GET", to, headers={"authorization": "Bearer of-the-forge"})
        response, _ = await exchange.exchange(http, asked, 1000)

    assert response.status_code == 401
    assert origin.server.requests[-1].authorization == "Bearer of-the-forge"
    wanted = set() if direct else {f"CONNECT localhost:{origin.server.port} HTTP/1.1"}
    assert proxy.asked_for == wanted
    assert "of-the-forge" not in "".join(proxy.told)


@pytest.mark.parametrize("own", ["none", "another", "its"])
async def test_an_authority_of_the_network_is_trusted_beside_the_servers_own(
    tmp_path: Path,
    origin: Origin,
    own: str,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """Such as that of a proxy that looks into connections; without it the server is not trusted."""
    first = origin.commit({"a": "1"}, ref="refs/heads/main")
    certificate(other := tmp_path_factory.mktemp("other"))
    its, another = origin.server.ca_file, str(other / "ca.pem")
    named = {"none": None, "another": another, "its": its}[own]
    remote = replace(origin.remote("work"), ca_file=named)
    to = httpx.URL(f"https://localhost:{origin.server.port}/")

    def read() -> str | None:
        return git.Git(git.init_bare(tmp_path / "own.git").git_dir, remote).read_ref("main")

    async def ask() -> int:
        async with exchange.client(trusted(named), to) as http:
            return (await exchange.exchange(http, http.build_request("GET", to), 1000))[
                0
            ].status_code

    if own != "its":
        with pytest.raises(git.GitError, match="certificate"):
            read()
        with pytest.raises(httpx.ConnectError):
            await ask()
    monkeypatch.setenv(MORE_CA, its if own != "its" else another)

    assert read() == first
    assert await ask() == 401


def test_an_authority_that_cannot_be_read_is_told(
    tmp_path: Path, origin: Origin, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(MORE_CA, str(tmp_path / "absent"))

    with pytest.raises(git.GitError, match="cannot be read"):
        ours(tmp_path, origin)


def what_the_probe_finds(tmp_path: Path, remote: Remote, account: str) -> ProbeResult:
    return probe.run(
        ProbeConfig(
            remote=remote,
            account=account,
            branch="main",
            secret=f"git-{account}",
            config_map="ca",
            git_dir=str(tmp_path / account / "repo.git"),
            ref="refs/bernstein/1111222233334444/probe" if account == "work" else None,
        )
    )


@pytest.mark.parametrize("account", ["work", "deliver"])
def test_what_an_account_may_push_is_asked_in_a_tunnel_too(
    tmp_path: Path, origin: Origin, proxy: Proxy, account: str
) -> None:
    origin.commit({"a": "1"}, ref="refs/heads/main")
    (origin.path / "hooks" / "pre-receive").unlink()
    before = len(origin.server.requests)

    found = what_the_probe_finds(tmp_path, origin.remote(account), account)

    assert found == ProbeResult(too_strong=account == "work")
    asked = [r for r in origin.server.requests[before:] if "git-receive-pack" in r.path]
    assert {r.user for r in asked} == {account}
    assert {r.headers["Host"] for r in asked} == {f"localhost:{origin.server.port}"}
    assert {each.split()[1] for each in proxy.asked_for} == {f"localhost:{origin.server.port}"}
    # git asks twice, without its account and with it, in one tunnel; each question has its own.
    assert len(proxy.told) >= 1 + len(asked)
    secret = base64.b64encode(f"{account}:{USERS[account]}".encode()).decode()
    told = "\n".join(proxy.told)
    assert "authorization" not in told.lower()
    assert secret not in told


@pytest.mark.parametrize("refuses", [True, False])
def test_that_no_proxy_lets_the_question_through_is_told_apart_from_the_server(
    origin: Origin, proxy: Proxy, refuses: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if refuses:
        proxy.refuses = True
    else:
        monkeypatch.setenv(PROXY, "http://proxy.invalid:3128")

    with pytest.raises(git.GitError, match=r"network\.proxy") as refused:
        permission.may_push_somewhere(origin.remote("work"))

    assert refused.value.reason == "RepositoryUnreachable"


def test_what_an_account_may_push_is_asked_of_a_server_that_the_network_vouches_for(
    tmp_path: Path, origin: Origin, monkeypatch: pytest.MonkeyPatch
) -> None:
    origin.commit({"a": "1"}, ref="refs/heads/main")
    (origin.path / "hooks" / "pre-receive").unlink()
    remote = replace(origin.remote("work"), ca_file=None)
    with pytest.raises(git.GitError, match="certificate"):
        permission.may_push_somewhere(remote)
    monkeypatch.setenv(MORE_CA, origin.server.ca_file)

    assert what_the_probe_finds(tmp_path, remote, "work").too_strong is True

    monkeypatch.setenv(MORE_CA, str(tmp_path / "absent"))
    with pytest.raises(git.GitError, match="cannot be read"):
        permission.may_push_somewhere(remote)
