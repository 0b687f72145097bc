"""The process that keeps the server's certificate: `python3 -m bernstein.certificates`."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import signal
from datetime import UTC, datetime, timedelta

from bernstein.certificates.keeper import Wanted, keep
from bernstein.core.sanitise import text as sanitise
from bernstein.kube.client import Client
from bernstein.kube.config import ConnectionInfo
from bernstein.observe import logging


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bernstein-certificates", description=__doc__)
    add = parser.add_argument
    add("--secret", required=True, help="name of the Secret, which is there")
    add("--namespace", default=None, help="where it is; default: the namespace of the pod")
    add("--name", action="append", required=True, help="DNS name or IP address (again for more)")
    add("--valid-days", type=int, required=True, help="how long a certificate is valid")
    add("--log-level", default="info", choices=logging.LEVELS)
    return parser.parse_args()


async def _run(args: argparse.Namespace) -> None:
    connection = ConnectionInfo.load()
    wanted = Wanted(
        namespace=args.namespace or connection.namespace,
        secret=args.secret,
        names=frozenset(args.name),
        valid=timedelta(days=args.valid_days),
    )
    async with Client(connection) as client:
        work = asyncio.create_task(keep(client, wanted, lambda: datetime.now(UTC)))
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, work.cancel)
        with contextlib.suppress(asyncio.CancelledError):
            await work


def main() -> None:
    """Runs until SIGTERM or SIGINT."""
    args = arguments()
    logging.configure(sanitise=lambda said: sanitise(said, 2000), level=args.log_level)
    asyncio.run(_run(args))


if __name__ == "__main__":
    main()
