"""The least rights that the page on forges names, on a real Gitea: each token can do what it is
for, and nothing of the next one's. And what starts CI there."""

from __future__ import annotations

import asyncio
import itertools
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from bernstein.api.pod import Remote
from bernstein.forges.client import Client
from bernstein.forges.errors import ForgeError
from bernstein.forges.gitea import GITEA
from bernstein.forges.operations import ensure
from bernstein.pods.git import client as git
from tests.background import wait_for
from tests.gitea import Gitea, gitea
from tests.programs.forges.repository import BRANCHES, SCOPES, WANTED
from tests.programs.pods.git_server import plain_env

TEAM = "team-a"
WORKFLOW = "on: [push, create]\njobs:\n  t:\n    runs-on: any\n    steps:\n      - run: 'true'\n"
WORK = "refs/bernstein/01234567/task/s1"
SCOPE = {"read": "read:repository", "work": "write:repository", "deliver": "write:repository"}
RIGHTS = {"read": "read", "work": "write", "deliver": "write"}
"""Of each user on the code; that of the forge's token is in no team but its own."""
_numbers = itertools.count()


@dataclass
class Repository:
    server: Gitea
    name: str
    folder: Path

    @property
    def url(self) -> str:
        return f"{self.server.url}/{TEAM}/{self.name}.git"

    @property
    def ca_file(self) -> str:
        return str(self.folder / "ca.crt")

    def as_(self, account: str, *scopes: str) -> git.Git:
        """Our git with a token of this user; without scopes it has the least."""
        secret = self.folder / f"{account}-{next(_numbers)}"
        secret.mkdir()
        (secret / "username").write_text(account)
        token = self.server.token(account, *(scopes or (SCOPE[account],)))
        (secret / "password").write_text(token)
        own = git.init_bare(secret / "own.git").git_dir
        return git.Git(own, Remote(self.url, str(secret), self.ca_file))

    def fetched(self, account: str) -> tuple[git.Git, str]:
        """With the branch, and a commit on it that the server does not have."""
        own = self.as_(account)
        own.fetch(["refs/heads/main:refs/heads/main"])
        tree = own.tree_id("refs/heads/main")
        people = {name: "x" for name in plain_env() if name.startswith(("GIT_A", "GIT_COM"))}
        people = {n: v for n, v in people.items() if not n.endswith("DATE")}
        made = own.run("commit-tree", tree, "-p", "refs/heads/main", env=people)
        return own, made.decode().strip()

    def tip(self, ref: str) -> str:
        folder = self.server.folder / "repositories" / TEAM / f"{self.name}.git"
        command = ["git", "-c", "safe.directory=*", "--git-dir", str(folder), "rev-parse", ref]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    def runs(self) -> list[str]:
        """The branches that Actions has been started for."""
        told = self.server.api("GET", f"/repos/{TEAM}/{self.name}/actions/runs")
        return [run["path"].partition("@")[2] for run in told["workflow_runs"]]


@pytest.fixture(scope="module")
def server() -> Iterator[Gitea]:
    with gitea(tls=True) as server:
        for name in (*RIGHTS, "forge"):
            server.add_user(name)
        server.api("POST", "/orgs", username=TEAM)
        for name, right in RIGHTS.items():
            team(server, name, {"repo.code": right})
        everyone = {"repo.code": "read", "repo.pulls": "write", "repo.issues": "write"}
        team(server, "forge", everyone)
        yield server


def team(server: Gitea, user: str, units: dict[str, str]) -> None:
    """A team of this user alone, with these rights on all repositories and no other."""
    wanted: dict[str, Any] = {
        "permission": "read",
        "includes_all_repositories": True,
        "units_map": units,
    }
    made = server.api("POST", f"/orgs/{TEAM}/teams", name=user, **wanted, units=[*units])
    server.api("PUT", f"/teams/{made['id']}/members/{user}")


@pytest.fixture
def repository(server: Gitea, tmp_path: Path) -> Repository:
    """With the rules of the page, but for pushes that go back."""
    name = f"app-{next(_numbers)}"
    server.api("POST", f"/orgs/{TEAM}/repos", name=name, auto_init=True, default_branch="main")
    for branch in ("main", "bernstein/**"):
        path = f"/repos/{TEAM}/{name}/branch_protections"
        rule: dict[str, Any] = {
            "rule_name": branch,
            "enable_push": True,
            "enable_push_whitelist": True,
            "push_whitelist_usernames": ["deliver"],
        }
        server.api("POST", path, **rule)
    assert server.certificate is not None
    (tmp_path / "ca.crt").write_text(server.certificate.ca)
    return Repository(server, name, tmp_path)


def refused(own: git.Git, ref: str, sha: str) -> str:
    with pytest.raises(git.GitError) as error:
        own.push(ref, sha, None)
    return str(error.value.reason)


def test_read_fetches_and_pushes_nothing(repository: Repository) -> None:
    own, made = repository.fetched("read")

    assert refused(own, WORK, made) == "CredentialRefused"


def test_work_pushes_below_refs_bernstein_and_to_no_protected_branch(
    repository: Repository,
) -> None:
    own, made = repository.fetched("work")
    base = own.commit_id("refs/heads/main")

    own.push(WORK, made, None)

    assert repository.tip(WORK) == made
    with pytest.raises(git.GitError) as error:
        own.push("refs/heads/main", made, base)
    assert error.value.reason == "BranchProtected"
    assert refused(own, "refs/heads/bernstein/shop-12345678", made) == "BranchProtected"


def test_deliver_pushes_to_the_branch_and_to_those_of_plans(repository: Repository) -> None:
    own, made = repository.fetched("deliver")
    base = own.commit_id("refs/heads/main")

    own.push("refs/heads/main", made, base)
    own.push("refs/heads/bernstein/shop-12345678", made, None)

    assert repository.tip("refs/heads/main") == made


def test_what_is_made_anew_takes_a_rule_that_lets_deliver_push_it_with_force(
    repository: Repository,
) -> None:
    deliver, made = repository.fetched("deliver")
    branch = "refs/heads/bernstein/shop-12345678"
    deliver.push(branch, made, None)
    other = deliver.commit_id("refs/heads/main")

    with pytest.raises(git.GitError) as error:
        deliver.push(branch, other, made)
    assert error.value.reason == "BranchProtected"

    rule = f"/repos/{TEAM}/{repository.name}/branch_protections/bernstein%2F**"
    allowed: dict[str, Any] = {
        "enable_force_push_allowlist": True,
        "force_push_allowlist_usernames": ["deliver"],
    }
    repository.server.api("PATCH", rule, enable_force_push=True, **allowed)
    deliver.push(branch, other, made)
    assert repository.tip(branch) == other
    work = repository.as_("work")
    work.fetch(["refs/heads/main:refs/heads/main"])
    with pytest.raises(git.GitError) as error:
        work.push(branch, made, other)
    assert repository.tip(branch) == other


def test_a_token_that_may_only_read_pushes_nothing_whoever_has_it(repository: Repository) -> None:
    _, made = repository.fetched("deliver")
    weak = repository.as_("deliver", "read:repository")
    weak.fetch(["refs/heads/main:refs/heads/main"])

    assert refused(weak, WORK, weak.commit_id("refs/heads/main")) == "CredentialRefused"
    assert made != repository.tip("refs/heads/main")


def opened(repository: Repository, *scopes: str) -> str:
    """Address of the pull request that the forge's token opens, or why it does not."""
    token = repository.folder / f"token-{next(_numbers)}"
    token.write_text(repository.server.token("forge", *scopes))

    async def ask() -> str:
        async with Client(GITEA, repository.url, str(token), ca_file=repository.ca_file) as client:
            found = await client.run(ensure(GITEA, client.repository, BRANCHES, WANTED))
            assert found.description.labels == WANTED.labels
            return found.url

    return asyncio.run(ask())


def test_the_forges_token_opens_pull_requests_and_pushes_nothing(repository: Repository) -> None:
    deliver, made = repository.fetched("deliver")
    deliver.push(f"refs/heads/{BRANCHES.head}", made, None)

    assert opened(repository, *SCOPES).endswith("/pulls/1")

    own = repository.as_("forge", *SCOPES)
    own.fetch(["refs/heads/main:refs/heads/main"])
    # Gitea lets whoever may open pull requests begin a push, and refuses it as a hook does.
    assert refused(own, WORK, own.commit_id("refs/heads/main")) == "CredentialRefused"


@pytest.mark.parametrize("scope", SCOPES)
def test_neither_of_its_scopes_is_enough_alone(repository: Repository, scope: str) -> None:
    deliver, made = repository.fetched("deliver")
    deliver.push(f"refs/heads/{BRANCHES.head}", made, None)

    with pytest.raises(ForgeError) as error:
        opened(repository, scope)
    assert error.value.reason == "ForgeRightsMissing"


def test_a_push_below_refs_bernstein_starts_no_ci_and_one_to_a_branch_does(
    repository: Repository,
) -> None:
    """Its workflow asks for all pushes, and for all refs that are made."""
    path = f"/repos/{TEAM}/{repository.name}/contents/.gitea/workflows/ci.yaml"
    encoded = subprocess.run(
        ["base64", "-w0"], input=WORKFLOW, capture_output=True, text=True, check=True
    ).stdout
    repository.server.api("PATCH", f"/repos/{TEAM}/{repository.name}", has_actions=True)
    repository.server.api("DELETE", f"/repos/{TEAM}/{repository.name}/branch_protections/main")
    repository.server.api("POST", path, message="CI", content=encoded, branch="main")
    wait_for(lambda: "refs/heads/main" in repository.runs(), 30)
    before = repository.runs()
    work, made = repository.fetched("work")
    deliver = repository.as_("deliver")
    deliver.fetch(["refs/heads/main:refs/heads/main"])

    work.push(WORK, made, None)
    work.push(WORK.replace("s1", "candidate"), made, None)
    # Gitea looks at pushes in their order: what a branch starts comes after all of the above.
    deliver.push("refs/heads/bernstein/shop-12345678", deliver.commit_id("refs/heads/main"), None)
    wait_for(lambda: "refs/heads/bernstein/shop-12345678" in repository.runs(), 30)

    more = [ref for ref in repository.runs() if ref not in before]
    assert set(more) == {"refs/heads/bernstein/shop-12345678"}
