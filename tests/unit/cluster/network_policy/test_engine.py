"""The engine of network policies between an API server, the CNI plugin and a program `nft`."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from bernstein.kube.client import Client
from bernstein.kube.resource import NETWORK_POLICIES, PODS
from tests.background import Background, eventually
from tests.cluster.network_policy.engine import Engine
from tests.cluster.network_policy.plugin import PluginError, ask
from tests.resources import NAMESPACES
from tests.unit.kube.apiserver import ApiServer

ADDRESS = "10.0.0.7"
NFT = """#!/bin/sh
cat > {folder}/partial
while [ -e {folder}/closed ]; do sleep 0.01; done
if [ -e {folder}/broken ]; then echo "syntax error"; exit 1; fi
mv {folder}/partial {folder}/rules
"""


class Kernel:
    """The rules that hold, and what a program `nft` does with others."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        (folder / "nft").write_text(NFT.format(folder=folder))
        (folder / "nft").chmod(0o755)

    @property
    def rules(self) -> str:
        file = self._folder / "rules"
        return file.read_text() if file.exists() else ""

    @property
    def isolates(self) -> bool:
        """Whether there are rules for the pod of these tests."""
        return f"{ADDRESS} : jump" in self.rules

    def set(self, state: str, holds: bool) -> None:
        """closed: it does not come to an end; broken: it refuses everything."""
        if holds:
            (self._folder / state).touch()
        else:
            (self._folder / state).unlink()


@pytest.fixture
def kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Kernel]:
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    yield Kernel(tmp_path)
    for state in ("closed", "broken"):  # so that no program of the test waits on
        (tmp_path / state).unlink(missing_ok=True)


@pytest.fixture
async def api() -> AsyncIterator[ApiServer]:
    async with ApiServer.running() as server:
        server.put(NAMESPACES, "default", "")
        yield server


@pytest.fixture
async def plugin(client: Client, kernel: Kernel, tmp_path: Path, background: Background) -> Plugin:
    """With an engine that is ready."""
    socket = tmp_path / "s"
    background.start(Engine(client, "table", "bridge").run(socket))
    await eventually(socket.exists)
    assert "table inet table" in kernel.rules
    return Plugin(socket)


class Plugin:
    def __init__(self, socket: Path) -> None:
        self._socket = socket

    async def add(self, uid: str = "", container: str = "c-1") -> None:
        pod = {"namespace": "default", "name": "web", "uid": uid, "addresses": [ADDRESS]}
        await self._ask({"command": "ADD", "container": container, **pod})

    async def delete(self, container: str = "c-1") -> None:
        await self._ask({"command": "DEL", "container": container})

    async def check(self) -> None:
        await self._ask({"command": "CHECK", "container": "c-1", "addresses": [ADDRESS]})

    async def _ask(self, request: dict[str, Any]) -> None:
        await asyncio.to_thread(ask, str(self._socket), request)


def make_pod(api: ApiServer, **status: str) -> str:
    """Its uid."""
    made = api.put(PODS, "web", metadata={"labels": {"app": "web"}}, spec={}, status=status)
    return str(made["metadata"]["uid"])


def isolate(api: ApiServer) -> None:
    api.put(NETWORK_POLICIES, "p", spec={"podSelector": {}, "policyTypes": ["Egress"]})


async def test_pod_may_start_only_when_its_rules_hold(
    api: ApiServer, plugin: Plugin, kernel: Kernel, background: Background
) -> None:
    isolate(api)
    uid = make_pod(api)
    kernel.set("closed", True)
    added = background.start(plugin.add(uid))
    done, _ = await asyncio.wait([added], timeout=0.3)
    assert (done, kernel.isolates) == (set(), False)
    kernel.set("closed", False)
    await added
    assert kernel.isolates


async def test_policy_and_pod_that_the_watch_has_not_told_of_count(
    api: ApiServer, plugin: Plugin, kernel: Kernel
) -> None:
    api.stall()
    isolate(api)
    await plugin.add(make_pod(api))
    assert kernel.isolates
    api.remove(NETWORK_POLICIES, "p")
    await plugin.add(make_pod(api))
    assert not kernel.isolates


async def test_refused_rules_hinder_the_pod_and_are_tried_again(
    api: ApiServer, plugin: Plugin, kernel: Kernel
) -> None:
    isolate(api)
    kernel.set("broken", True)
    with pytest.raises(PluginError, match="nft -f - ended with 1: syntax error"):
        await plugin.add(make_pod(api))
    kernel.set("broken", False)
    await eventually(lambda: kernel.isolates)


async def test_another_pod_of_the_same_name_is_not_taken_for_it(
    api: ApiServer, plugin: Plugin
) -> None:
    make_pod(api)
    with pytest.raises(PluginError, match="there is no Pod default/web with the uid u-2"):
        await plugin.add("u-2")


async def test_rules_stay_as_long_as_the_address_is_the_pods(
    api: ApiServer, plugin: Plugin, kernel: Kernel
) -> None:
    isolate(api)
    await plugin.add(make_pod(api))
    api.remove(PODS, "web")
    api.put(NETWORK_POLICIES, "later", spec={"podSelector": {"matchLabels": {"app": "web"}}})
    await eventually(lambda: "map ingress {\n    type ipv4_addr : verdict\n    el" in kernel.rules)
    assert kernel.isolates
    await plugin.delete("another")
    await plugin.check()
    await plugin.delete()
    await eventually(lambda: not kernel.isolates)
    with pytest.raises(PluginError, match=f"no pod is known at {ADDRESS}"):
        await plugin.check()


async def test_rules_follow_labels_and_policies(
    api: ApiServer, plugin: Plugin, kernel: Kernel
) -> None:
    await plugin.add(make_pod(api))
    api.put(NETWORK_POLICIES, "p", spec={"podSelector": {"matchLabels": {"app": "web"}}})
    await eventually(lambda: kernel.isolates)
    api.put(PODS, "web", metadata={"labels": {"app": "other"}})
    await eventually(lambda: not kernel.isolates)


async def test_pods_that_started_before_the_engine_are_known_by_their_status(
    api: ApiServer, client: Client, kernel: Kernel, tmp_path: Path, background: Background
) -> None:
    isolate(api)
    make_pod(api, podIP=ADDRESS, phase="Running")
    background.start(Engine(client, "table", "bridge").run(tmp_path / "s"))
    await eventually((tmp_path / "s").exists)
    assert kernel.isolates
    make_pod(api, podIP=ADDRESS, phase="Succeeded")
    await eventually(lambda: not kernel.isolates)
