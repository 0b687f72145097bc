"""The ends of logs that outlive their pods, in ConfigMaps.

Best effort: whatever fails here is logged and dropped.
"""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor

from bernstein.controllers.wiring import Context
from bernstein.core import labels
from bernstein.core.logs.packed import KEY, PackedLog, is_lost, pack
from bernstein.kube.errors import KubeError, Requeue
from bernstein.kube.resource import CONFIG_MAPS, Key, Object
from bernstein.observe import logging

log = logging.logger(__name__)

_PACKER = ThreadPoolExecutor(1, "packs-logs")


async def packed(text: bytes | None, limit: int) -> PackedLog | None:
    """The end of a log, in at most `limit` bytes; None where there is nothing to keep."""
    if text is None or not text.strip() or is_lost(text):
        return None
    # Packing may take a second or two, most of it for secrets, which are looked for in pieces of
    # some thousand characters: in a thread, so that others are served between them. In one thread:
    # several are no faster, and each of them takes its turn before the loop has its next.
    return await asyncio.get_running_loop().run_in_executor(_PACKER, pack, text, limit)


def config_map(
    name: str, told: Mapping[str, str], log_end: PackedLog, namespace: str, owner: Object
) -> Object:
    """A log's end as an object that is deleted with its owner; `told` are labels that say whose log
    it is."""
    metadata: Object = {
        "name": name,
        "namespace": namespace,
        "labels": {labels.MANAGED_BY: labels.MANAGER, **told},
        "ownerReferences": [owner],
    }
    if log_end.cut:
        metadata["annotations"] = {labels.CUT: "true"}
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": metadata,
        "immutable": True,
        "binaryData": {KEY: base64.b64encode(log_end.packed).decode()},
    }


async def store(kept: Object, key: Key, context: Context) -> None:
    """Makes it, for the object of this key, where there is none of ours by that name."""
    try:
        await context.writer.create(key, CONFIG_MAPS, kept)
    except (KubeError, Requeue) as error:
        reason = error.reason if isinstance(error, KubeError) else type(error).__name__
        log.warning("log not kept", config_map=kept["metadata"]["name"], reason=reason)
