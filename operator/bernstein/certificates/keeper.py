"""Keeps the Secret as it should be: reads it, changes it, and looks again."""

from __future__ import annotations

import asyncio
import base64
import binascii
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from bernstein.certificates.issuing import Data, changed
from bernstein.certificates.rotation import Step
from bernstein.kube.client import Client
from bernstein.kube.errors import KubeError
from bernstein.kube.resource import SECRETS, Object
from bernstein.observe.logging import logger

log = logger("bernstein.certificates")

EVERY_SECONDS = 3600.0
RETRY_SECONDS = 5.0


@dataclass(frozen=True)
class Wanted:
    """Which Secret, and for what."""

    namespace: str
    secret: str
    names: frozenset[str]
    valid: timedelta


async def keep(client: Client, wanted: Wanted, now: Callable[[], datetime]) -> None:
    """Runs until it is cancelled."""
    while True:
        try:
            taken = await once(client, wanted, now())
        except KubeError as error:
            log.warning("the Secret was not kept", secret=wanted.secret, problem=str(error))
            await asyncio.sleep(RETRY_SECONDS)
            continue
        if taken is Step.KEEP:
            await asyncio.sleep(EVERY_SECONDS)


async def once(client: Client, wanted: Wanted, now: datetime) -> Step:
    """One step. The Secret is there, empty at first: the chart makes it, and the account of this
    process may make none. Raises KubeError, and Conflict where somebody else wrote meanwhile."""
    secret = await client.get(SECRETS, wanted.secret, wanted.namespace)
    before = held(secret)
    taken, after = changed(before, wanted.names, now, wanted.valid)
    if taken is not Step.KEEP:
        version = secret["metadata"]["resourceVersion"]
        data: dict[str, str | None] = dict.fromkeys(secret.get("data") or {})
        data |= {key: base64.b64encode(value).decode() for key, value in after.items()}
        body = {"metadata": {"resourceVersion": version}, "data": data}
        await client.patch(SECRETS, wanted.secret, wanted.namespace, body)
        log.info("the certificate was changed", secret=wanted.secret, step=taken.value)
    return taken


def held(secret: Object) -> Data:
    """What it holds; what is no base64 is as if it were not there."""
    found = {}
    for key, value in (secret.get("data") or {}).items():
        try:
            found[key] = base64.b64decode(value, validate=True)
        except (binascii.Error, ValueError):
            continue
    return found
