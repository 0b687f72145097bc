"""A release is installed from its files alone, on a node that has nothing of ours.

Its images are built and packed before; what is measured begins with the files.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from release.charts import helm
from release.make import Order, Release
from release.sources import Sources
from tests.cluster import select
from tests.cluster.binaries.build import ensure_binaries, tools_folder
from tests.cluster.machine.paths import cache_root
from tests.demo import manifests
from tests.demo.manifests import Agents, GitServer
from tests.e2e.conftest import EXISTS, SEED, SLOWNESS, World, does, writing
from tests.images import build
from tests.stack import ROOT, SYSTEM, Clock, Stack, dns_peers

IMAGES = ["bernstein", "agent-demo", "git-server", "toolchain"]
NAMESPACE = "first"
MOST_SECONDS = 120
ONE_WAY = ("checking sums", "loading images", "installing the chart", "a first Task")
"""What somebody does who installs it: the manifest is the other way."""
DEPLOYMENTS = ("bernstein-certificates", "bernstein-operator", "bernstein-server")


@pytest.fixture(scope="module")
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


@pytest.fixture(scope="module")
def node() -> Iterator[Stack]:
    """A cluster of its own."""
    cluster = select("auto", "release")
    cluster.down()
    cluster.up()
    try:
        yield Stack(cluster, tools_folder())
    finally:
        cluster.down()


@pytest.fixture(scope="module")
def clock() -> Clock:
    return Clock()


@pytest.fixture(scope="module")
def carried(dist: Path, node: Stack, clock: Clock) -> Stack:
    """A node that has the images of the folder."""
    with clock.measure("checking sums"):
        check = ["sha256sum", "--check", "--quiet", "--strict", "SHA256SUMS"]
        subprocess.run(check, cwd=dist, check=True)
    with clock.measure("loading images"):
        node.cluster.load_images([str(path) for path in sorted((dist / "images").iterdir())])
    return node


def await_pods(stack: Stack) -> None:
    for name in DEPLOYMENTS:
        stack.kubectl("-n", SYSTEM, "rollout", "status", f"deployment/{name}", "--timeout=120s")


def test_one_manifest_installs_it(dist: Path, carried: Stack, clock: Clock) -> None:
    manifest = str(dist / "install.yaml")
    with clock.measure("applying install.yaml"):
        told = carried.kubectl("apply", "--server-side", "-f", manifest)
        await_pods(carried)

    assert "warning" not in told.lower()
    again = carried.kubectl("apply", "--server-side", "-f", manifest)
    assert carried.kubectl("diff", "--server-side", "-f", manifest) == ""
    assert len(again.splitlines()) == len(told.splitlines())
    carried.kubectl("delete", "-f", manifest, "--wait")


def test_the_chart_installs_it_and_a_first_task_is_merged(
    dist: Path, carried: Stack, clock: Clock
) -> None:
    (chart,) = dist.glob("bernstein-*.tgz")
    peers = dns_peers(carried)
    options = ("--set-json", f"dns.peers={peers}") if peers else ()
    with clock.measure("installing the chart"):
        command = ("helm", "upgrade", "--install", "bernstein", str(chart), "-n", SYSTEM)
        carried.run(*command, "--create-namespace", "--wait", "--timeout", "3m", *options)
    with clock.measure("a first Task"):
        here = first(carried, chart.stem.removeprefix("bernstein-"))
        here.task("good", completionSignals=[EXISTS])
        task = here.closed("good")

    assert task["status"]["delivery"]["state"] == "Merged"
    assert here.tip() == task["status"]["delivery"]["sha"]
    pods = carried.kubectl("get", "pods", "-A", "-o", "json")
    used = {
        container["image"]
        for pod in json.loads(pods)["items"]
        if pod["metadata"]["namespace"] in (SYSTEM, NAMESPACE)
        for container in pod["spec"]["containers"]
    }
    listed = (dist / "images.txt").read_text().splitlines()
    assert used <= {line.partition("@")[0] for line in listed}
    print({what: round(seconds, 1) for what, seconds in clock.spent.items()})
    assert sum(clock.spent[what] for what in ONE_WAY) < MOST_SECONDS * SLOWNESS


def first(stack: Stack, version: str) -> World:
    """A namespace with a git server and a Project, of the release's images."""
    server = GitServer.new(NAMESPACE)
    scenario = json.dumps({"tasks": [does("good", writing("new.py", "X = 1\n"))]})
    *others, project = manifests.project(server, NAMESPACE, Agents(scenario=scenario))
    project["spec"]["repositories"][0]["url"] = server.url("r0")
    objects = [
        manifests.namespace(NAMESPACE),
        *manifests.git_server(server, {"r0": SEED}),
        *manifests.accounts(server, NAMESPACE),
        *others,
        project,
    ]
    text = manifests.as_list(objects).replace(":dev", f":{version}")
    stack.kubectl("apply", "-f", "-", stdin=text)
    ready = ("rollout", "status", f"deployment/{server.name}", "--timeout=120s")
    stack.kubectl("-n", NAMESPACE, *ready)
    return World(stack, server, NAMESPACE, "r0")
