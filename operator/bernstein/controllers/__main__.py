"""The operator's process: `python3 -m bernstein.controllers`.

kopf is its shell: it logs in, handles signals, starts and stops the engine. What acts runs in the
engine, behind the Lease; kopf itself watches nothing and writes nothing.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import gc
import itertools
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

# All that modules make stays: to look through it again and again was a tenth of the start.
gc.disable()

from bernstein.api import prices as price_table
from bernstein.checks.content import printed
from bernstein.controllers.engine import LEASE, LEASE_SECONDS, Engine, Tuning, failures_of
from bernstein.controllers.settings import (
    CLUSTER_DNS,
    PRIVATE,
    OperatorSettings,
    collector_address,
    peers,
    prices,
    ranges,
)
from bernstein.core.sanitise import text as sanitise
from bernstein.kube.client import Client
from bernstein.kube.config import ConnectionInfo
from bernstein.observe import logging
from bernstein.observe.http import ProbeServer
from bernstein.observe.metrics import Metrics

if TYPE_CHECKING:
    from bernstein.controllers.traces.collector import Collector


@contextlib.contextmanager
def uninstalled(package: str) -> Iterator[None]:
    """The block imports as if the package were not installed."""
    modules: dict[str, Any] = sys.modules  # None: it cannot be imported
    was = modules.get(package, modules)
    modules[package] = None
    try:
        yield
    finally:
        del modules[package]
        if was is not modules:
            modules[package] = was


# kopf imports it only to know its objects, which we hand to nobody: a quarter of all modules.
with uninstalled("kubernetes"):
    import kopf

gc.enable()


def arguments() -> argparse.Namespace:
    """What the command line says; ends the process where it is not enough."""
    parser = argparse.ArgumentParser(prog="bernstein-operator", description=__doc__)
    add = parser.add_argument
    add("--image", default=os.environ.get("BERNSTEIN_IMAGE"), help="image that runs inside pods")
    add("--image-pull-policy", default="IfNotPresent")
    add("--callback-url", default=None, help="address of the server, as pods reach it")
    add("--callback-ca", type=Path, default=None, help="file with the CA of that address")
    add("--dns-peers", type=peers, default=CLUSTER_DNS, help="where pods look up names, in JSON")
    add("--internal", type=ranges, default=PRIVATE, help="ranges of nodes, pods, Services, in JSON")
    add("--prices", type=prices, help="file of a price table in place of the image's, in JSON")
    add("--namespace", default=os.environ.get("POD_NAMESPACE"), help="where the Lease is kept")
    add("--watch", action="append", help="namespace to work in (again for more); absent: all")
    add("--lease-name", default=LEASE)
    add("--lease-seconds", type=float, default=LEASE_SECONDS, help="until another takes over")
    add("--http-port", type=int, default=8080, help="of /metrics, /healthz and /readyz")
    add("--workers", type=int, default=4)
    add("--resync-seconds", type=float, default=600.0)
    add("--heartbeat-seconds", type=int, default=15)
    add("--checkpoint-seconds", type=int, default=30)
    add("--trace-endpoint", type=collector_address, help="of an OTLP collector; absent: no traces")
    add("--trace-headers", type=Path, default=None, help="folder with a file for each header")
    add("--trace-ca", type=Path, default=None, help="file with the CA of the collector")
    add("--log-level", default="info", choices=logging.LEVELS)
    parsed = parser.parse_args()
    if not parsed.image:
        parser.error("--image (or BERNSTEIN_IMAGE) is needed: it runs inside pods")
    if parsed.trace_endpoint is None and (parsed.trace_headers or parsed.trace_ca):
        parser.error("--trace-headers and --trace-ca are of a --trace-endpoint")
    return parsed


def collector_of(args: argparse.Namespace) -> Collector | None:
    """Who takes spans of what has ended; what speaks to it is loaded where there is one."""
    if args.trace_endpoint is None:
        return None
    from bernstein.controllers.traces.otlp import Endpoint, OtlpCollector

    return OtlpCollector(Endpoint(args.trace_endpoint, args.trace_headers, args.trace_ca))


def main() -> None:
    """Runs until a signal, or until leadership is lost (exit 1, so that a new process starts)."""
    args = arguments()
    if args.prices is not None:
        price_table.replace(args.prices)
    logging.configure(sanitise=lambda s: sanitise(s, 2000), level=args.log_level)
    raise SystemExit(asyncio.run(_run(args)))


GARBAGE = 20_000, 4, 1
"""Objects and rounds between two looks for garbage, of the three generations. Nearly all that a
reconcile makes goes without one; the usual 700 has most of it looked at several times. A look holds
the loop up, so that none goes through more than what comes in few rounds."""


def leave_out(phase: str, info: dict[str, int]) -> None:
    """What has outlived a full look for garbage stays for long, mostly: the next one goes through
    what has come since, however many Tasks came after the first lists. Circles of what was at work
    at that moment are not found any more: they are few, and there are few such looks."""
    if phase == "stop" and info["generation"] == 2:
        gc.freeze()


@contextlib.contextmanager
def looking_for_garbage() -> Iterator[None]:
    """In the block it is looked for as suits a process that keeps thousands of objects."""
    was = gc.get_threshold()
    gc.set_threshold(*GARBAGE)
    gc.freeze()  # all that was imported
    gc.callbacks.append(leave_out)
    try:
        yield
    finally:
        gc.callbacks.remove(leave_out)
        gc.set_threshold(*was)


async def keep(engine: Engine) -> None:
    """What the caches hold after their first lists stays for long: it is not looked through for
    garbage any more."""
    for informer in engine.caches.informers:
        await informer.synced()
    gc.collect(1)
    gc.freeze()


async def _run(args: argparse.Namespace) -> int:
    connection = ConnectionInfo.load()
    metrics = Metrics()
    if args.callback_ca is not None:
        args.callback_ca.read_bytes()  # if it cannot be read, fail here and not at a session
    settings = OperatorSettings(
        image=args.image,
        image_pull_policy=args.image_pull_policy,
        callback_url=args.callback_url,
        callback_ca=args.callback_ca,
        dns=args.dns_peers,
        internal=args.internal,
        heartbeat_seconds=args.heartbeat_seconds,
        checkpoint_seconds=args.checkpoint_seconds,
    )
    async with Client(connection, observer=metrics) as client:
        engine = Engine(
            client,
            namespace=args.namespace or connection.namespace,
            settings=settings,
            metrics=metrics,
            lease=args.lease_name,
            watch=args.watch,
            tuning=Tuning(args.workers, args.resync_seconds, args.lease_seconds),
            collector=collector_of(args),
        )
        ready = {"caches": engine.not_ready}
        printed.load()  # else whose check fails first is waited for by all
        with looking_for_garbage():
            keeping = asyncio.create_task(keep(engine))
            try:
                async with ProbeServer(metrics.registry, ready=ready, port=args.http_port):
                    return await _shell(engine, connection)
            finally:
                keeping.cancel()


async def login_of(connection: ConnectionInfo, *, renew: bool) -> kopf.ConnectionInfo:
    """Our connection for kopf, which looks once which kinds there are. `renew`: its last token was
    refused."""
    token = connection.token
    return kopf.ConnectionInfo(
        server=connection.server,
        ca_path=connection.ca_file,
        insecure=not connection.verify,
        certificate_path=connection.cert_file,
        private_key_path=connection.key_file,
        token=await token.token(renew=renew) if token is not None else None,
        default_namespace=connection.namespace,
        proxy_url=connection.proxy,
    )


async def _shell(engine: Engine, connection: ConnectionInfo) -> int:
    """Runs the engine inside of kopf; the exit code is 1 when the engine failed."""
    registry = kopf.OperatorRegistry()
    stop_engine, stop_shell = asyncio.Event(), asyncio.Event()
    failures: list[BaseException] = []

    async def work() -> None:
        try:
            failures.extend(await failures_of(engine, stop_engine))
        finally:
            stop_shell.set()

    running: list[asyncio.Task[None]] = []
    logins = itertools.count()

    @kopf.on.login(registry=registry)
    async def login(**_: object) -> kopf.ConnectionInfo:
        return await login_of(connection, renew=next(logins) > 0)

    @kopf.on.startup(registry=registry)
    async def start(**_: object) -> None:
        running.append(asyncio.create_task(work()))

    @kopf.on.cleanup(registry=registry)
    async def stop(**_: object) -> None:
        stop_engine.set()
        for task in running:
            with contextlib.suppress(asyncio.CancelledError):
                await task

    shell = kopf.OperatorSettings()
    shell.posting.enabled = False
    shell.scanning.disabled = True
    await kopf.operator(
        registry=registry,
        settings=shell,
        standalone=True,
        clusterwide=True,
        stop_flag=stop_shell,
    )
    return 1 if failures else 0


if __name__ == "__main__":
    main()
