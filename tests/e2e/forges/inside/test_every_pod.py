"""In the real pods of everything that a Project's pull requests need, each container finds the
credential that it should, where it should, and no other.

All that reach the forge are looked into while their connection is held there; those that reach
nobody when they have been started. Once with passwords, once with SSH keys. A token of a GitHub App
is a password, too: what the pods of a GitHub App's minter hold is told in
`tests/e2e/refs/test_minter.py`.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.checkout.volume import Volume, a_volume
from tests.e2e.conftest import EXISTS, Object, does, writing
from tests.e2e.forges.conftest import OWNER, MakeTeam, Team, repository_of_all
from tests.e2e.forges.inside.container import needs_root
from tests.e2e.forges.inside.looks import Looks, looking
from tests.e2e.forges.inside.table import SERVERLESS, TABLE
from tests.gitea import Gitea, ssh_key
from tests.programs.pods.programs.merging.keys import key_pair
from tests.stack import Stack

PAGE = {"type": "path_exists", "path": "page.md"}
WORK = writing("new.py", "X  =  1\n")  # what is formatted already is not pushed again
TASKS = [
    does("new", WORK),
    does("show", writing("page.md", "X is 1\n")),
    does("Change what was said of the pull request", writing("new.py", "X = 2\n")),
]
STAGES: list[Object] = [
    {"name": "build", "steps": [{"title": "new", "completionSignals": [EXISTS]}]},
    {"name": "tell", "repo": "site", "steps": [{"title": "show", "completionSignals": [PAGE]}]},
]


@pytest.fixture
def volume(stack: Stack) -> Iterator[Volume]:
    with a_volume(stack) as made:
        yield made


@dataclass(frozen=True)
class Doors:
    """Ports of the forge's address at which whoever connects is looked into."""

    forge: Gitea
    web: int
    ssh: int

    def watched(self, url: str) -> str:
        """The same address by that port."""
        return url.replace(f":{self.forge.port}/", f":{self.web}/")


@pytest.fixture
def looks(forge: Gitea) -> Iterator[tuple[Looks, Doors]]:
    needs_root()
    assert forge.ssh_port is not None
    with looking(forge.host, forge.port, forge.ssh_port) as (made, (web, ssh)):
        yield made, Doors(forge, web, ssh)


def everything(spec: Object, doors: Doors, way: str) -> None:
    """All that brings a pod of its own, or a container, or a credential."""

    def at(name: str) -> str:
        name = f"{name}-{uuid.uuid4().hex[:8]}"
        url = repository_of_all(doors.forge, name)
        return doors.watched(url) if way == "https" else doors.forge.ssh_url(OWNER, name, doors.ssh)

    (app,) = spec["repositories"]
    if way == "https":
        app["url"] = doors.watched(app["url"])
    else:
        app["forge"]["api"] = doors.watched(app["forge"]["api"])
    spec["repositories"].append({**app, "name": "site", "url": at("site")})
    app |= {
        "workRepository": {"url": at("work")},
        "checkout": {"lfs": way == "https"},  # over SSH nothing is fetched of it
        "cache": {"claim": "caches", "refreshSeconds": 3600},
    }
    spec["setup"] = {"command": "sleep 1"}  # what is over at once is seen by nobody
    own = {"name": "own", "command": "sleep 1", "image": "bernstein-toolchain:dev"}
    spec["gates"] = {"pipeline": [own, {"name": "merge_conflict"}, {"name": "auto_format"}]}
    spec["attestation"] = {"key": {"name": "keys", "key": "pem"}}
    spec["attestation"]["publicKey"] = "pem.pub"
    spec["merge"]["signing"] = {"key": {"name": "keys", "key": "ssh"}, "publicKey": "ssh.pub"}
    spec["merge"]["pullRequest"] |= {"feedback": ["Comments"], "maxFeedback": 1}
    spec["retention"] = {**spec.get("retention", {}), "refsSeconds": 1}


def give_keys(here: Team, folder: Path) -> None:
    pem = key_pair(folder / "pem")
    ssh_key(folder / "ssh")
    content = {
        "pem": pem.private.read_text(),
        "pem.pub": pem.public.read_text(),
        "ssh": (folder / "ssh").read_text(),
        "ssh.pub": (folder / "ssh.pub").read_text(),
    }
    here.secrets |= {
        "attestation": content["pem"].splitlines()[1],
        "signing": content["ssh"].splitlines()[-3],
    }
    metadata = {"name": "keys"}
    here.apply({"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "stringData": content})


def pull_of(here: Team, row: int, *, after: str = "") -> Any:
    """The pull request of this repository, once people may merge it."""

    def is_open(plan: Object) -> bool:
        delivery = plan["status"]["repositories"][row]["delivery"]
        is_other = delivery["pullRequest"]["sha"] != after
        return is_other and str(delivery["state"]) == "PullRequestOpen"

    plan = here.await_("plan", "shop", is_open, 300)
    return plan["status"]["repositories"][row]["delivery"]["pullRequest"]


@pytest.mark.parametrize("way", ["https", "ssh"])
def test_each_container_finds_the_credential_that_it_should_and_no_other(
    team: MakeTeam, volume: Volume, looks: tuple[Looks, Doors], tmp_path: Path, way: str
) -> None:
    saw, doors = looks
    ssh = doors.ssh if way == "ssh" else False
    here = team(TASKS, lambda spec: everything(spec, doors, way), ssh=ssh)
    give_keys(here, tmp_path)
    volume.claim(here)
    saw.begin(here)
    name = here.project["metadata"]["name"]
    here.await_("project", name, lambda p: "content" in p["status"]["caches"][0])

    first = here.project["spec"]["repositories"][0]["name"]
    here.plan("shop", STAGES, repos=[{"path": first, "name": "app"}, {"path": "site"}])
    here.plan("other", STAGES[:1])
    before = pull_of(here, 0)
    review: Object = {"event": "REQUEST_CHANGES", "body": "Make it two."}
    here.api("POST", f"/pulls/{before['number']}/reviews", user=OWNER, **review)
    here.merge(pull_of(here, 0, after=before["sha"])["number"])
    site = here.get("project", name)["spec"]["repositories"][1]["url"].rpartition("/")[2][:-4]
    doors.forge.merge(OWNER, site, pull_of(here, 1)["number"])
    here.await_("plan", "shop", lambda p: p["status"]["phase"] == "Succeeded", 90)
    here.bernstein("cancel", "plan/other")
    saw.await_(*TABLE)

    here.await_("plan", "other", lambda p: p["status"]["phase"] == "Cancelled", 90)

    assert not saw.faults
    expected = {(kind, name): held for kind, names in TABLE.items() for name, held in names.items()}
    assert saw.held() == {who: [held] for who, held in expected.items()}
    assert saw.connected >= expected.keys() - SERVERLESS
