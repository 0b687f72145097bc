"""Teams whose repository is on a real Gitea: people merge what is proposed there."""

from __future__ import annotations

import itertools
import json
import subprocess
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml

from tests.demo import manifests
from tests.demo.certificate import Certificate
from tests.demo.manifests import Agents, GitServer
from tests.e2e.conftest import SEED, Object, World
from tests.gitea import Gitea, gitea, ssh_key
from tests.stack import Stack

OWNER, STRANGER = "ann", "stranger"
ACCOUNTS = {"read": "read", "work": "write", "deliver": "write", "forge": "write"}
"""Users of the forge, and what each may do."""
GIT_ACCOUNTS = ("read", "work", "deliver")
_numbers = itertools.count()


@pytest.fixture(scope="session")
def forge(stack: Stack) -> Iterator[Gitea]:
    """One for all teams, on the address by which pods reach the API server."""
    config = yaml.safe_load(stack.cluster.kubeconfig.read_text())
    host = urlsplit(config["clusters"][0]["cluster"]["server"]).hostname
    assert host is not None
    with gitea(host, tls=True, ssh=True) as server:
        for name in (OWNER, STRANGER, *ACCOUNTS):
            server.add_user(name)
        for name in GIT_ACCOUNTS:
            key = ssh_key(server.folder / f"key-of-{name}")
            server.api("POST", "/user/keys", user=name, title=name, key=key)
        yield server


@dataclass
class Team(World):
    """A namespace with a Project, whose repository is on the forge."""

    forge: Gitea = field(kw_only=True)
    secrets: dict[str, str] = field(default_factory=dict)
    """What tells whether the credential of an account is somewhere, by its name."""

    def on_server(self, *git: str) -> str:
        folder = self.forge.folder / "repositories" / OWNER / f"{self.repository}.git"
        command = ["git", "-c", "safe.directory=*", "--git-dir", str(folder), *git]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    def api(self, method: str, path: str, user: str = OWNER, **body: Any) -> Any:
        """About its repository, as one of the forge's users."""
        return self.forge.api(method, f"/repos/{OWNER}/{self.repository}{path}", user=user, **body)

    def merge(self, number: int) -> None:
        self.forge.merge(OWNER, self.repository, number)

    def merging(self, **more: Any) -> None:
        """Changes how the Project's pull requests are, from now on."""
        patch = {"spec": {"merge": {"pullRequest": more}}}
        self.kubectl("patch", "project", "default", "--type=merge", "-p", json.dumps(patch))

    def pulls(self) -> list[Object]:
        found: list[Object] = self.api("GET", "/pulls?state=all")
        return found


MakeTeam = Callable[..., Team]


@pytest.fixture
def team(stack: Stack, forge: Gitea, request: pytest.FixtureRequest) -> Iterator[MakeTeam]:
    """Call it with the demo agent's tasks and changes to the Project; `ssh`: how its repository is
    reached, and by which port, where that is not the forge's own; `repository`: that of another
    team, in place of one of its own."""
    made: list[Team] = []

    def make(
        tasks: list[Object] | None = None,
        change: Callable[[Object], None] | None = None,
        *,
        ssh: bool | int = False,
        repository: str | None = None,
    ) -> Team:
        slug = request.node.name.lower().replace("_", "-")[:40].strip("-")
        namespace = f"{slug}-{uuid.uuid4().hex[:5]}"
        name = repository or f"app-{next(_numbers)}"
        url = forge.https_url(OWNER, name) if repository else repository_of_all(forge, name)
        token = forge.token("forge", "write:repository", "write:issue")
        passwords = {each: forge.token(each, "write:repository") for each in GIT_ACCOUNTS}
        offered = Agents(scenario=yaml.safe_dump({"tasks": tasks or []}))
        *others, project = manifests.project(_no_server(namespace), namespace, offered)
        _on_forge(project["spec"], url)
        port = forge.ssh_port if ssh is True else ssh or None
        if port is not None:
            (entry,) = project["spec"]["repositories"]
            entry["url"] = forge.ssh_url(OWNER, name, port)
            entry["forge"]["api"] = f"{forge.url}/api/v1"
        if change is not None:
            change(project["spec"])
        objects = [
            manifests.namespace(namespace),
            *_secrets(forge, namespace, token, passwords if port is None else port),
            *others,
            project,
        ]
        stack.kubectl("apply", "-f", "-", stdin=manifests.as_list(objects))
        server = _no_server(namespace)
        keys = {each: _line_of_key(forge, each) for each in GIT_ACCOUNTS}
        made.append(
            Team(
                stack,
                server,
                namespace,
                name,
                project=project,
                forge=forge,
                secrets={**(keys if ssh else passwords), "forge": token},
            )
        )
        return made[-1]

    yield make
    for each in made:
        stack.kubectl("delete", "namespace", each.namespace, "--wait=false")


def _no_server(namespace: str) -> GitServer:
    """What manifests are made with; nothing of it is used."""
    return GitServer(namespace, Certificate("", "", ""), {})


def repository_of_all(forge: Gitea, name: str) -> str:
    """Makes one that all accounts may use; returns its address."""
    url = forge.repository(OWNER, name)
    for user, permission in ACCOUNTS.items():
        path = f"/repos/{OWNER}/{name}/collaborators/{user}"
        forge.api("PUT", path, user=OWNER, permission=permission)
    for path, text in SEED.items():
        if path != "README.md":
            forge.commit(OWNER, name, path, text, branch="main")
    return url


def _on_forge(spec: Object, url: str) -> None:
    (repository,) = spec["repositories"]
    token = {"name": "forge-token", "key": "token"}
    repository |= {"url": url, "forge": {"type": "gitea", "token": token}}
    spec["merge"] = {"strategy": "pr", "pullRequest": {"lookSeconds": 5}}
    spec["gates"] = {"enabled": False}
    del spec["network"]["git"]


def _line_of_key(forge: Gitea, account: str) -> str:
    """The last whole line of its private key: no other text has that."""
    return _key(forge, account).splitlines()[-3]


def _key(forge: Gitea, account: str) -> str:
    return (forge.folder / f"key-of-{account}").read_text()


def _account(forge: Gitea, account: str, proof: Mapping[str, str] | int) -> Object:
    """The type and the content of its Secret. `proof`: the passwords of all; or the port by which
    an SSH key is used."""
    if isinstance(proof, int):
        given = {"ssh-privatekey": _key(forge, account), "known_hosts": forge.known_at(proof)}
        return {"type": "kubernetes.io/ssh-auth", "stringData": given}
    given = {"username": account, "password": proof[account]}
    return {"type": "kubernetes.io/basic-auth", "stringData": given}


def _secrets(
    forge: Gitea, namespace: str, token: str, proof: Mapping[str, str] | int
) -> list[Object]:
    assert forge.certificate is not None
    where = {"namespace": namespace}
    accounts = [
        {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {**where, "name": f"git-{account}"},
            **_account(forge, account, proof),
        }
        for account in GIT_ACCOUNTS
    ]
    return [
        *accounts,
        {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {**where, "name": "forge-token"},
            "stringData": {"token": token},
        },
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {**where, "name": "git-ca"},
            "data": {"ca.crt": forge.certificate.ca},
        },
    ]
