"""The whole product on a real cluster: images built and loaded, the chart installed.

`python3 -m tests.stack up` does that, `down` takes the cluster away again.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.cluster import Cluster, select
from tests.cluster.binaries.build import tools_folder
from tests.cluster.errors import ClusterError
from tests.images import build as images

ROOT = Path(__file__).resolve().parents[1]
CHART = ROOT / "charts" / "bernstein"
SYSTEM = "bernstein-system"


@dataclass
class Clock:
    """Where the time goes: seconds by what was done."""

    spent: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def measure(self, what: str) -> Iterator[None]:
        begun = time.monotonic()
        try:
            yield
        finally:
            self.spent[what] = self.spent.get(what, 0.0) + time.monotonic() - begun


@dataclass(frozen=True)
class Stack:
    """A running cluster with the product in it."""

    cluster: Cluster
    tools: Path

    @property
    def environment(self) -> dict[str, str]:
        """For programs that talk to the cluster."""
        path = f"{self.tools}{os.pathsep}{os.environ.get('PATH', '')}"
        return {**os.environ, "KUBECONFIG": str(self.cluster.kubeconfig), "PATH": path}

    def run(
        self, *command: str, stdin: str | None = None, check: bool = True, timeout: float = 180
    ) -> str:
        """Standard output of a program such as kubectl or helm; RuntimeError when it fails."""
        done = subprocess.run(
            command,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
            env=self.environment,
        )
        if check and done.returncode != 0:
            raise RuntimeError(f"{' '.join(command)} failed:\n{done.stderr or done.stdout}")
        return done.stdout

    def kubectl(self, *arguments: str, stdin: str | None = None, check: bool = True) -> str:
        return self.run("kubectl", *arguments, stdin=stdin, check=check)


def bring_up(clock: Clock, *, provider: str = "auto", name: str | None = None) -> Stack:
    """Start the cluster while the images are built, then load them."""
    cluster = select(provider, name)
    with ThreadPoolExecutor() as side_by_side:
        building = side_by_side.submit(_timed, clock, "building images", lambda: images.build([]))
        starting = side_by_side.submit(_timed, clock, "starting the cluster", cluster.up)
        building.result()
        starting.result()
    archives = sorted({str(built.tar) for built in images.load().values()})
    with clock.measure("loading images"):
        cluster.load_images(archives)
    return Stack(cluster, tools_folder())


def running(name: str | None = None) -> Stack:
    """The one that is up already."""
    return Stack(select("auto", name), tools_folder())


def _timed(clock: Clock, what: str, work: Callable[[], object]) -> None:
    with clock.measure(what):
        work()


def install(stack: Stack, clock: Clock, settings: Sequence[str] = ()) -> None:
    """Install or upgrade the chart and wait until it is ready."""
    built = images.load()["bernstein"]
    # The tag stays the same, so that only this makes new pods when the image is another.
    stamp = hashlib.sha256(built.hash.encode()).hexdigest()[:16]
    values = [
        "image.tag=dev",
        f"operator.podAnnotations.image-hash=h{stamp}",
        f"server.podAnnotations.image-hash=h{stamp}",
        *settings,
    ]
    options = [part for value in values for part in ("--set", value)]
    options += ["--set-json", f"dns.peers={peers}"] if (peers := dns_peers(stack)) else []
    command = ("helm", "upgrade", "--install", "bernstein", str(CHART), "--namespace", SYSTEM)
    with clock.measure("installing the chart"):
        stack.run(*command, "--create-namespace", "--wait", "--timeout", "3m", *options)


def dns_peers(stack: Stack) -> str:
    """Where the cluster's DNS is, in JSON, if it is in no pod, as in the local cluster; else ""."""
    which = ("-l", "kubernetes.io/service-name=kube-dns", "-o", "json")
    found = json.loads(stack.kubectl("-n", "kube-system", "get", "endpointslices", *which))
    endpoints = [end for each in found["items"] for end in each.get("endpoints") or ()]
    addresses = {at for end in endpoints if "targetRef" not in end for at in end["addresses"]}
    peers = [{"ipBlock": {"cidr": f"{address}/32"}} for address in sorted(addresses)]
    return json.dumps(peers) if peers else ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("command", choices=("up", "down"))
    parser.add_argument("--name", help="of the cluster")
    options = parser.parse_args()
    try:
        if options.command == "down":
            select("auto", options.name).down()
            return 0
        clock = Clock()
        stack = bring_up(clock, name=options.name)
        install(stack, clock)
    except (ClusterError, RuntimeError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    for what, seconds in clock.spent.items():
        print(f"{seconds:6.1f} s  {what}", file=sys.stderr)
    print(stack.cluster.kubeconfig)
    return 0


if __name__ == "__main__":
    sys.exit(main())
