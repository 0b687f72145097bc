"""Enforces NetworkPolicies in the local cluster: a process beside the kubelet.

It watches policies, pods and namespaces, and puts one table of nftables in place of another when
something changed. The CNI plugin tells it each pod's address before the pod starts and waits until
the rules for it hold, so that not even the first packet is early. Rules stay as they are while it
does not run, and no pod starts then.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bernstein.kube.client import Client
from bernstein.kube.config import ConnectionInfo
from bernstein.kube.errors import KubeError
from bernstein.kube.informer import Informer
from bernstein.kube.resource import (
    NETWORK_POLICIES,
    PODS,
    Key,
    Object,
    key_of,
    resource_version_of,
    uid_of,
)
from tests.cluster.errors import ClusterError
from tests.cluster.machine.packages import program
from tests.cluster.network_policy.rules import Cluster, ruleset
from tests.cluster.processes.process import run
from tests.cluster.progress import say
from tests.resources import NAMESPACES

LIMIT = 10.0
"""Seconds for one question of the CNI plugin."""
RETRY = 1.0


class Refused(Exception):  # noqa: N818 - an answer
    """Why the rules of a pod do not hold, in words."""


@dataclass
class Sandbox:
    """A pod's network: it has its address from ADD to DEL, whatever becomes of the Pod."""

    container: str
    pod: Object


class Engine:
    """Rules for the pods of one node in one table."""

    def __init__(self, client: Client, table: str, bridge: str) -> None:
        self._client = client
        self._table = table
        self._bridge = bridge
        self._policies = Informer(client, NETWORK_POLICIES)
        self._pods = Informer(client, PODS)
        self._namespaces = Informer(client, NAMESPACES)
        self._informers = (self._policies, self._pods, self._namespaces)
        self._sandboxes: dict[str, Sandbox] = {}
        self._changed = asyncio.Event()
        self._waiting: list[asyncio.Future[None]] = []
        self._applied = ""

    async def run(self, socket: Path) -> None:
        """Enforce until cancelled. It answers at the socket only when the first rules hold."""
        self._pods.add_handler(self._on_pod)
        self._policies.add_handler(lambda _old, _new: self._changed.set())
        self._namespaces.add_handler(lambda _old, _new: self._changed.set())
        async with asyncio.TaskGroup() as tasks:
            for informer in self._informers:
                tasks.create_task(informer.run())
            for informer in self._informers:
                await informer.synced()
            tasks.create_task(self._apply_for_ever())
            await self._enforced()
            server = await asyncio.start_unix_server(self._serve, socket)
            say("ready")
            await server.serve_forever()

    def _on_pod(self, _old: Object | None, new: Object | None) -> None:
        for sandbox in self._sandboxes.values():
            if new is not None and uid_of(sandbox.pod) == uid_of(new):
                sandbox.pod = new
        self._changed.set()

    # --- rules

    async def _enforced(self) -> None:
        """Wait until rules hold for all that is known now."""
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(waiter)
        self._changed.set()
        await waiter

    async def _apply_for_ever(self) -> None:
        while True:
            await self._changed.wait()
            self._changed.clear()
            waiting, self._waiting = self._waiting, []
            try:
                await self._apply()
            except Refused as error:
                say(str(error))
                asyncio.get_running_loop().call_later(RETRY, self._changed.set)
                _settle(waiting, error)
            else:
                _settle(waiting)

    async def _apply(self) -> None:
        rules = ruleset(
            self._table,
            self._bridge,
            Cluster(
                self._policies.objects(),
                self._addresses(),
                {space["metadata"]["name"]: space for space in self._namespaces.objects()},
            ),
        )
        if rules != self._applied:
            begin = time.monotonic()
            await _nft(rules)
            self._applied = rules
            say(f"new rules, applied in {(time.monotonic() - begin) * 1000:.0f} ms")

    def _addresses(self) -> dict[str, Object]:
        """Pods by address: those that the plugin told of, and older ones by their status."""
        found = {address: sandbox.pod for address, sandbox in self._sandboxes.items()}
        told = {uid_of(pod) for pod in found.values()}
        for pod in self._pods.objects():
            status = pod.get("status", {})
            address = status.get("podIP", "")
            ended = status.get("phase") in ("Succeeded", "Failed")
            if address and not ended and uid_of(pod) not in told and ":" not in address:
                found.setdefault(address, pod)
        return found

    # --- the plugin's questions

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            if line := await reader.readline():  # none comes from who only asks for readiness
                error = await self._answer(json.loads(line))
                writer.write(json.dumps({"error": error}).encode() + b"\n")
                await writer.drain()
        except (OSError, ValueError) as broken:
            say(f"a question broke off: {broken}")
        finally:
            writer.close()

    async def _answer(self, request: dict[str, Any]) -> str:
        """What hinders; "" when nothing does."""
        begin = time.monotonic()
        try:
            async with asyncio.timeout(LIMIT):
                await self._do(request)
        except TimeoutError:
            return f"not done in {LIMIT:.0f} s"
        except (Refused, KubeError) as error:
            return str(error)
        name = f"{request.get('namespace', '')}/{request.get('name', '')}"
        took = (time.monotonic() - begin) * 1000
        say(f"{request['command']} {name} {request['container'][:12]}: {took:.0f} ms")
        return ""

    async def _do(self, request: dict[str, Any]) -> None:
        container, addresses = request["container"], request.get("addresses", [])
        if request["command"] == "ADD":
            pod = await self._pod(Key(request["namespace"], request["name"]), request["uid"])
            for address in addresses:
                self._sandboxes[address] = Sandbox(container, pod)
            await self._catch_up(request["namespace"])
            await self._enforced()
        elif request["command"] == "DEL":
            gone = [a for a, known in self._sandboxes.items() if known.container == container]
            for address in gone:
                del self._sandboxes[address]
            self._changed.set()
        elif missing := set(addresses) - set(self._addresses()):
            raise Refused(f"no pod is known at {', '.join(sorted(missing))}")

    async def _catch_up(self, namespace: str) -> None:
        """Know every policy that was written before the question came: the watch may be late."""
        listed = await self._client.list(NETWORK_POLICIES, namespace)
        there = {key_of(policy): policy for policy in listed.items}
        known = {key_of(policy): policy for policy in self._policies.objects(namespace)}
        for key in there.keys() | known.keys():
            old, new = known.get(key), there.get(key)
            if old is None or new is None or resource_version_of(old) != resource_version_of(new):
                await self._policies.refresh(key)

    async def _pod(self, key: Key, uid: str) -> Object:
        """The Pod, also when the watch has not told of it or its namespace yet."""
        if self._namespaces.get(Key("", key.namespace)) is None:
            await self._namespaces.refresh(Key("", key.namespace))
        for fresh in (False, True):
            if fresh:
                await self._pods.refresh(key)
            pod = self._pods.get(key)
            if pod is not None and uid in ("", uid_of(pod)):
                return pod
        raise Refused(f"there is no Pod {key} with the uid {uid}")


def _settle(waiting: Sequence[asyncio.Future[None]], error: Refused | None = None) -> None:
    for waiter in waiting:
        if waiter.done():  # its question took too long
            continue
        if error is None:
            waiter.set_result(None)
        else:
            waiter.set_exception(error)


async def _nft(rules: str) -> None:
    try:
        await asyncio.to_thread(run, [program("nft"), "-f", "-"], stdin=rules, timeout=LIMIT)
    except ClusterError as error:
        raise Refused(error.message) from error
    except subprocess.TimeoutExpired as error:
        raise Refused(str(error)) from error


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--server", required=True, help="URL of the API server")
    parser.add_argument("--pki", type=Path, required=True, help="folder of the certificates")
    parser.add_argument("--socket", type=Path, required=True, help="where the plugin asks")
    parser.add_argument("--table", required=True, help="of nftables, family inet")
    parser.add_argument("--bridge", required=True, help="device of the pods")
    options = parser.parse_args()
    connection = ConnectionInfo(
        server=options.server,
        ca_file=str(options.pki / "ca.crt"),
        cert_file=str(options.pki / "network-policy.crt"),
        key_file=str(options.pki / "network-policy.key"),
    )
    async with Client(connection) as client:
        await Engine(client, options.table, options.bridge).run(options.socket)


if __name__ == "__main__":
    asyncio.run(main())
