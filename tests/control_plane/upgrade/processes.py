"""Operators of two releases, each a process of its own, one after the other."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import yaml

from bernstein.kube.config import ConnectionInfo
from tests.background import eventually
from tests.control_plane.controllers.world import PATIENCE, World

START_SECONDS = 5 * PATIENCE
"""Modules of a release that was just unpacked are compiled first."""


@contextlib.asynccontextmanager
async def operator(
    worlds: Sequence[World], modules: Path | None, folder: Path
) -> AsyncIterator[None]:
    """Works in these worlds from when it leads until it is told to end, as a Deployment tells it.

    `modules`: where the release's modules are; None: the checkout's.
    """
    kubeconfig, log = folder / "kubeconfig", folder / "log"
    _prepare(kubeconfig, await _kubeconfig(worlds[0].operator))
    environment = {**os.environ, "KUBECONFIG": str(kubeconfig)}
    if modules is not None:
        environment["PYTHONPATH"] = str(modules)
    with log.open("wb") as out:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "bernstein.controllers"),
            *("--image=bernstein:dev", "--http-port=0", "--lease-name=operator"),
            f"--namespace={worlds[0].namespace}",
            *(f"--watch={world.namespace}" for world in worlds),
            stdout=out,
            stderr=out,
            cwd=folder,
            env=environment,
        )
    try:
        leads = lambda: process.returncode is not None or '"leading"' in log.read_text()  # noqa: E731
        await eventually(leads, seconds=START_SECONDS)
        assert process.returncode is None, log.read_text()
        yield
        assert process.returncode is None, log.read_text()
        process.send_signal(signal.SIGTERM)
        await asyncio.wait_for(process.wait(), PATIENCE)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


def _prepare(kubeconfig: Path, content: object) -> None:
    kubeconfig.parent.mkdir()
    kubeconfig.write_text(yaml.safe_dump(content))
    kubeconfig.chmod(0o600)


async def _kubeconfig(account: ConnectionInfo) -> dict[str, object]:
    assert account.token is not None
    cluster = {"server": account.server, "certificate-authority": account.ca_file}
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "x",
        "clusters": [{"name": "c", "cluster": cluster}],
        "users": [{"name": "u", "user": {"token": await account.token.token()}}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
    }
