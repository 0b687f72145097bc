"""No credential reaches a server that the Project does not name, whatever its own server answers
and whatever is in the repository. The other server writes down every header of every request."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from bernstein.api.pod import CheckoutConfig, Remote
from bernstein.forges.client import Client, Limits
from bernstein.forges.errors import ForgeError
from bernstein.forges.forge import Branches, Description, Forge
from bernstein.forges.operations import ensure
from bernstein.forges.registry import FORGES
from bernstein.pods import lfs
from bernstein.pods.git import client as git
from bernstein.pods.git import permission
from bernstein.pods.programs import checkout
from tests.programs.pods.conftest import Origin
from tests.programs.pods.git_server import USERS, GitServer, Request

WORK = "refs/bernstein/01234567/task/s1"
SECRETS = {
    *USERS.values(),
    *(base64.b64encode(f"{user}:{password}".encode()).decode() for user, password in USERS.items()),
}


@pytest.fixture
def trap(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GitServer]:
    """A server that knows the same users, and is trusted: all that is sent to it would be good."""
    server = GitServer(tmp_path_factory.mktemp("trap"))
    (server.folder / "repositories").mkdir()
    yield server
    server.close()


@pytest.fixture
def ours(tmp_path: Path, origin: Origin, trap: GitServer) -> Iterator[Callable[..., git.Git]]:
    """A repository of ours, whose remote may show either server's certificate."""
    both = tmp_path / "both.pem"
    both.write_text(Path(origin.server.ca_file).read_text() + Path(trap.ca_file).read_text())

    def make(user: str = "work") -> git.Git:
        remote = replace(origin.remote(user), ca_file=str(both))
        return git.Git(git.init_bare(tmp_path / "own.git").git_dir, remote)

    yield make
    origin.server.redirect_to, origin.server.redirected, origin.server.dumb = None, "", False
    origin.server.answers.clear()


def elsewhere(trap: GitServer) -> str:
    return f"https://127.0.0.1:{trap.port}"


def holds_a_secret(request: Request) -> bool:
    told = "\n".join([request.path, *request.headers, *request.headers.values()])
    return any(secret in told for secret in SECRETS)


@pytest.mark.parametrize("code", ["true", "initial"])
@pytest.mark.parametrize(
    ("step", "action"),
    [
        ("GET /{name}.git/info/refs?service=git-upload-pack", "fetch"),
        ("POST /{name}.git/git-upload-pack", "fetch"),
        ("GET /{name}.git/info/refs?service=git-receive-pack", "push"),
        ("POST /{name}.git/git-receive-pack", "push"),
    ],
    ids=["what there is", "what is fetched", "what may be pushed", "what is pushed"],
)
def test_a_redirect_at_any_step_is_followed_nowhere(
    ours: Callable[..., git.Git], origin: Origin, trap: GitServer, step: str, action: str, code: str
) -> None:
    """`code`: what git's setting would be without ours; then the other server is asked, at the
    first step at least, and has no account even so."""
    first = origin.commit({"a": "1"}, ref="refs/heads/main")
    repository = ours()
    repository.fetch(["refs/heads/main:refs/heads/main"])
    asked = step.format(name=origin.name)
    before = len(origin.server.requests)
    origin.server.redirected, origin.server.redirect_to = asked, elsewhere(trap)

    def act() -> None:
        if action == "push":
            repository.push(WORK, first, None)
        else:
            repository.fetch([f"{first}:refs/heads/again", "refs/heads/new:refs/heads/new"])

    origin.commit({"a": "2"}, first, ref="refs/heads/new")
    with pytest.raises(git.GitError):
        act()
    steps = [f"{r.method} {r.path}" for r in origin.server.requests[before:]]
    assert [each for each in steps if asked in each], "the step is one of this action"
    assert trap.requests == []

    repository._settings["http.followRedirects"] = code
    with pytest.raises(git.GitError):
        act()
    assert trap.requests or "POST" in step
    assert not [r for r in trap.requests if holds_a_secret(r)]


def test_what_a_tree_says_of_other_servers_is_asked_of_none(
    ours: Callable[..., git.Git], origin: Origin, trap: GitServer, tmp_path: Path
) -> None:
    """Submodules elsewhere and beside it, LFS, and files that git would take for a repository's
    configuration."""
    away = elsewhere(trap)
    configuration = (
        f'[http]\n\textraHeader = X-Planted: yes\n[url "{away}/"]\n'
        f"\tinsteadOf = {origin.remote().url}\n"
        f'[remote "origin"]\n\turl = {away}/other.git\n[credential]\n'
        f'\thelper = "!touch {tmp_path}/ran"\n'
    )
    sha = origin.commit(
        {
            ".gitmodules": (
                f'[submodule "m"]\n\tpath = m\n\turl = {away}/m.git\n\tupdate = checkout\n'
                '[submodule "beside"]\n\tpath = beside\n\turl = ../beside.git\n'
            ),
            "m": "!" + "1" * 40,
            "beside": "!" + "2" * 40,
            ".lfsconfig": f"[lfs]\n\turl = {away}/lfs\n\taccess = basic\n",
            ".gitattributes": "*.bin filter=lfs diff=lfs merge=lfs -text\n",
            "large.bin": (
                f"version https://git-lfs.github.com/spec/v1\noid sha256:{'0' * 64}\nsize 1\n"
            ),
            **dict.fromkeys(("config", ".gitconfig", "inner/config"), configuration),
            "HEAD": "ref: refs/heads/main\n",
            "objects/info/alternates": f"{away}/other.git/objects\n",
            "objects/info/http-alternates": f"{away}/other.git/objects\n",
            "refs/heads/.keep": "",
        },
        ref="refs/heads/main",
    )
    before = len(origin.server.requests)
    remote = ours("read").remote
    assert remote is not None

    found = checkout.run(
        CheckoutConfig(
            remote=remote,
            ref="refs/heads/main",
            git_dir=str(tmp_path / "base" / "repo.git"),
            worktree=str(tmp_path / "workspace"),
            worktree_git=True,
        )
    )
    repository = ours()
    repository.fetch(["refs/heads/main:refs/heads/main"])
    repository.push(WORK, sha, None)

    assert found.sha == origin.tip(WORK) == sha
    assert trap.requests == []
    asked = origin.server.requests[before:]
    assert {r.path.split("/")[1] for r in asked} == {f"{origin.name}.git"}
    assert not [r for r in asked if "X-Planted" in r.headers]
    assert not (tmp_path / "ran").exists()


def test_a_server_without_git_names_no_other_one_that_objects_are_fetched_from(
    ours: Callable[..., git.Git], origin: Origin, trap: GitServer
) -> None:
    """`objects/info/http-alternates` of the dumb protocol: without our setting git goes there."""
    first = origin.commit({"a": "1"}, ref="refs/heads/main")
    origin.git("update-server-info")
    (origin.path / "objects" / first[:2] / first[2:]).unlink()
    named = origin.path / "objects" / "info" / "http-alternates"
    named.write_text(f"{elsewhere(trap)}/other.git/objects\n")
    origin.server.dumb = True
    repository = ours("read")

    with pytest.raises(git.GitError):
        repository.fetch(["refs/heads/main:refs/heads/main"])
    assert trap.requests == []

    repository._settings["http.followRedirects"] = "true"
    with pytest.raises(git.GitError):
        repository.fetch(["refs/heads/main:refs/heads/main"])
    assert any(map(holds_a_secret, trap.requests)), "with the protection off it has the account"


def test_a_server_without_git_that_lacks_nothing_is_read(
    ours: Callable[..., git.Git], origin: Origin
) -> None:
    first = origin.commit({"a": "1"}, ref="refs/heads/main")
    origin.git("update-server-info")
    origin.server.dumb = True
    repository = ours("read")

    repository.fetch(["refs/heads/main:refs/heads/main"])

    assert repository.commit_id("refs/heads/main") == first


def test_a_branch_that_looks_like_an_option_is_a_branch(
    ours: Callable[..., git.Git], origin: Origin, tmp_path: Path
) -> None:
    first = origin.commit({"a": "1"}, ref="refs/heads/main")
    option = f"--upload-pack=touch${{IFS}}{tmp_path}/ran"
    named = "-x"
    (origin.path / "refs" / "heads" / named).write_text(f"{first}\n")
    repository = ours()

    assert repository.read_ref(named) == first
    repository.fetch([f"{git.full_ref(named)}:refs/heads/taken"])
    with pytest.raises(git.GitError):
        repository.read_ref(option)

    assert repository.commit_id("refs/heads/taken") == first
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    "scheme", ["ext::sh -c id", "http://{host}", "git://{host}", "ssh://{host}"]
)
def test_no_other_transport_is_used_where_a_redirect_or_a_rule_names_one(
    ours: Callable[..., git.Git], origin: Origin, trap: GitServer, scheme: str
) -> None:
    origin.commit({"a": "1"}, ref="refs/heads/main")
    repository = ours()
    to = scheme.format(host=f"127.0.0.1:{trap.port}")
    repository._settings["http.followRedirects"] = "true"
    origin.server.redirect_to = to

    with pytest.raises(git.GitError):
        repository.read_ref("main")

    assert trap.requests == []


def own_remote(ours: Callable[..., git.Git], user: str) -> Remote:
    remote = ours(user).remote
    assert remote is not None
    return remote


@pytest.mark.parametrize("question", ["somewhere", "push", "overwrite"])
def test_what_an_account_may_push_is_asked_of_no_server_that_a_redirect_names(
    ours: Callable[..., git.Git], origin: Origin, trap: GitServer, question: str
) -> None:
    tip = origin.commit({"a": "1"}, ref="refs/heads/main")
    remote = own_remote(ours, "work")
    origin.server.redirect_to = elsewhere(trap)
    before = len(origin.server.requests)

    questions: dict[str, Callable[[], object]] = {
        "somewhere": lambda: permission.may_push_somewhere(remote),
        "push": lambda: permission.may_push(remote, WORK, tip),
        "overwrite": lambda: permission.may_overwrite(remote, "refs/heads/main", tip),
    }
    with pytest.raises(git.GitError, match="answers 302"):
        questions[question]()

    assert holds_a_secret(origin.server.requests[before])
    assert trap.requests == []


@pytest.mark.parametrize("what", ["batch", "content", "place"])
def test_contents_of_lfs_are_asked_of_no_server_that_an_answer_names(
    ours: Callable[..., git.Git], origin: Origin, trap: GitServer, tmp_path: Path, what: str
) -> None:
    """A redirect of the question, one of the content, or an answer that has it elsewhere."""
    remote = own_remote(ours, "read")
    oid, own = "0" * 64, f"/{origin.name}.git/info/lfs/objects"
    server = elsewhere(trap) if what == "place" else f"https://localhost:{origin.server.port}"
    place = {"href": f"{server}{own}/{oid}", "header": {"Authorization": "Bearer read-secret"}}
    told = {"objects": [{"oid": oid, "size": 1, "actions": {"download": place}}]}
    origin.server.answers[f"{own}/batch"] = json.dumps(told).encode()
    if what != "place":
        origin.server.redirect_to = elsewhere(trap)
        origin.server.redirected = {"batch": "/batch", "content": f"/{oid}"}[what]
    (tree := tmp_path / "tree").mkdir()
    (tree / "a.bin").write_text(
        f"version https://git-lfs.github.com/spec/v1\noid sha256:{oid}\nsize 1\n"
    )
    before = len(origin.server.requests)

    assert lfs.fill(remote, [tree]) == 1, "it stays a pointer"

    asked = origin.server.requests[before:]
    assert [holds_a_secret(r) for r in asked] == [True] * (2 if what == "content" else 1)
    assert trap.requests == []


@pytest.mark.parametrize("forge", FORGES, ids=lambda forge: forge.name)
async def test_a_forge_that_answers_with_another_server_sends_its_token_nowhere(
    origin: Origin, trap: GitServer, tmp_path: Path, ours: Callable[..., git.Git], forge: Forge
) -> None:
    remote = own_remote(ours, "work")
    (token := tmp_path / "token").write_text("work-secret\n")
    api = f"https://localhost:{origin.server.port}/api"
    wanted, branches = (
        Description("title", "body", labels=("one",)),
        Branches("bernstein/a", "main"),
    )
    url = f"https://localhost:{origin.server.port}/acme/shop.git"
    origin.server.redirect_to = elsewhere(trap)
    before = len(origin.server.requests)

    async with Client(
        forge,
        url,
        str(token),
        api=api,
        ca_file=remote.ca_file,
        limits=Limits(attempts=1),
    ) as client:
        there = client.repository
        for operation in (
            ensure(client.forge, there, branches, wanted),
            client.forge.get(there, 7),
            client.forge.may_write(there, "ada"),
        ):
            with pytest.raises(ForgeError):
                await client.run(operation)

    asked = origin.server.requests[before:]
    assert len(asked) == 3
    assert all(map(holds_a_secret, asked))
    assert trap.requests == []
