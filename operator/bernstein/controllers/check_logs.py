"""Keeps what failed checks printed, before their Jobs go.

Best effort: whatever fails here is logged and dropped.
"""

from __future__ import annotations

import asyncio
import base64

from bernstein.controllers.jobs.pod import Object, owner_label
from bernstein.controllers.wiring import Context
from bernstein.core import labels, names
from bernstein.core.actions import KeepCheckLogs
from bernstein.core.jobs import JobView
from bernstein.core.verification.check_logs import KEY, PackedLog, pack
from bernstein.kube.errors import KubeError, Requeue
from bernstein.kube.resource import CONFIG_MAPS, Key
from bernstein.observe import logging

log = logging.logger(__name__)


async def keep(action: KeepCheckLogs, key: Key, owner: Object, context: Context) -> None:
    """Makes a ConfigMap for each Job, where there is none yet.

    Raises Requeue while their logs are being read.
    """
    texts = await context.logs.read(job.pod for job in action.jobs if job.pod is not None)
    for before, job in enumerate(action.jobs, action.before):
        text = texts.get(str(job.pod["metadata"]["uid"])) if job.pod is not None else None
        if text is not None and text.strip():
            await _keep(job, text, before, key, owner, context)


async def _keep(
    job: JobView, text: bytes, before: int, key: Key, owner: Object, context: Context
) -> None:
    # Packing may take a second or two, most of it for secrets, which are looked for in pieces of
    # some thousand characters: in a thread, so that others are served between them.
    packed = await asyncio.to_thread(pack, text, before)
    try:
        await context.writer.create(key, CONFIG_MAPS, config_map(job, packed, key, owner))
    except (KubeError, Requeue) as error:
        reason = error.reason if isinstance(error, KubeError) else type(error).__name__
        log.warning("check log not kept", job=job.name, uid=job.uid, reason=reason)


def config_map(job: JobView, log_end: PackedLog, key: Key, owner: Object) -> Object:
    """The log's end as an object that is deleted with its Task or Plan."""
    object_labels = {
        labels.MANAGED_BY: labels.MANAGER,
        labels.CHECK_LOG: job.name,
        labels.CHECK: job.labels.get(labels.CHECK, ""),
        **owner_label(owner),
    }
    metadata: Object = {
        "name": names.check_log(job.name),
        "namespace": key.namespace,
        "labels": object_labels,
        "ownerReferences": [owner],
    }
    if log_end.cut:
        metadata["annotations"] = {labels.CUT: "true"}
    packed = base64.b64encode(log_end.packed).decode()
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": metadata,
        "immutable": True,
        "binaryData": {KEY: packed},
    }
