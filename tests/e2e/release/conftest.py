"""A node of its own with a release's images, on which the release is put up, changed and removed.

The images are built and packed before; what is measured begins with the files.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from release.charts import helm
from release.make import Order, Release
from release.sources import Sources
from tests.cluster import select
from tests.cluster.binaries.build import ensure_binaries, tools_folder
from tests.cluster.machine.paths import cache_root
from tests.demo import manifests
from tests.demo.manifests import Agents, GitServer
from tests.e2e.conftest import SEED, World
from tests.images import build
from tests.stack import ROOT, SYSTEM, Clock, Stack, dns_peers

IMAGES = ["bernstein", "agent-demo", "git-server", "toolchain"]

Object = dict[str, Any]
Team = Callable[..., World]


@pytest.fixture(scope="session")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a release, with the images that its first Task needs."""
    to = tmp_path_factory.mktemp("release") / "dist"
    with pytest.MonkeyPatch.context() as patch:
        # A clone that has not all commits is tested, too; only what is published needs their times.
        patch.setenv("SOURCE_DATE_EPOCH", "1767225600")
        return made(to)


def made(to: Path) -> Path:
    release = Release(Order(to), Sources(ROOT), lambda line: print(line, file=sys.stderr))
    release.begin()
    release.chart(helm(ensure_binaries().tools / "helm"))
    saved = [(image.name, Path(image.tar)) for image in build.build(IMAGES)]
    release.images(saved, cache_root() / "release")
    release.end()
    return to


@pytest.fixture(scope="session")
def chart(dist: Path) -> Path:
    (found,) = dist.glob("bernstein-*.tgz")
    return found


@pytest.fixture(scope="session")
def version(chart: Path) -> str:
    """The tag of the release's images."""
    return chart.stem.removeprefix("bernstein-")


@pytest.fixture(scope="session")
def node() -> Iterator[Stack]:
    """A cluster of its own."""
    cluster = select("auto", "release")
    cluster.down()
    cluster.up()
    try:
        yield Stack(cluster, tools_folder())
    finally:
        cluster.down()


@pytest.fixture(scope="session")
def clock() -> Clock:
    return Clock()


@pytest.fixture(scope="session")
def carried(dist: Path, node: Stack, clock: Clock) -> Stack:
    """A node that has the images of the folder."""
    with clock.measure("checking sums"):
        check = ["sha256sum", "--check", "--quiet", "--strict", "SHA256SUMS"]
        subprocess.run(check, cwd=dist, check=True)
    with clock.measure("loading images"):
        node.cluster.load_images([str(path) for path in sorted((dist / "images").iterdir())])
    return node


def put_up(stack: Stack, chart: Path, *settings: str) -> None:
    """Install the chart, or upgrade to it, and wait until its pods are ready."""
    options = [part for each in settings for part in ("--set", each)]
    options += ["--set-json", f"dns.peers={peers}"] if (peers := dns_peers(stack)) else []
    command = ("helm", "upgrade", "--install", "bernstein", str(chart), "-n", SYSTEM)
    stack.run(*command, "--create-namespace", "--wait", "--timeout", "3m", *options)


@pytest.fixture
def team(carried: Stack, version: str) -> Iterator[Team]:
    """Call it with a git server that there is not yet, and what the demo agent does: a namespace
    with both, and a Project of the release's images. In the end it goes, while an operator works.
    """
    made: list[str] = []

    def make(server: GitServer, *works: Object, gates: bool = True) -> World:
        made.append(server.namespace)
        return settled(carried, server, version, *works, gates=gates)

    yield make
    for namespace in made:
        carried.kubectl("delete", "namespace", namespace, "--wait=false")


def settled(
    stack: Stack, server: GitServer, version: str, *works: Object, gates: bool = True
) -> World:
    namespace = server.namespace
    scenario = json.dumps({"tasks": works})
    *others, project = manifests.project(server, namespace, Agents(scenario=scenario))
    project["spec"]["repositories"][0]["url"] = server.url("r0")
    if not gates:
        project["spec"]["gates"] = {"enabled": False}
    objects = [
        manifests.namespace(namespace),
        *manifests.git_server(server, {"r0": SEED}),
        *manifests.accounts(server, namespace),
        *others,
        project,
    ]
    text = manifests.as_list(objects).replace(":dev", f":{version}")
    stack.kubectl("apply", "-f", "-", stdin=text)
    ready = ("rollout", "status", f"deployment/{server.name}", "--timeout=120s")
    stack.kubectl("-n", namespace, *ready)
    return World(stack, server, namespace, "r0")
