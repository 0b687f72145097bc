"""Keeps what failed checks printed, before their Jobs go.

Best effort: whatever fails here is logged and dropped, and no verdict waits long for it.
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

SECONDS = 5.0
"""For reading all logs of one look at the checks: a node that does not answer delays nothing."""


async def keep(action: KeepCheckLogs, key: Key, owner: Object, context: Context) -> None:
    """Makes a ConfigMap for each Job, where there is none yet."""
    numbered = enumerate(action.jobs, action.before)
    await asyncio.gather(*(_keep(job, n, key, owner, context) for n, job in numbered))


async def _keep(job: JobView, before: int, key: Key, owner: Object, context: Context) -> None:
    assert job.pod is not None
    try:
        async with asyncio.timeout(SECONDS):
            text = await context.caches.log_of_check(job.pod)
            if text.strip():
                # Packing may take most of a second: in a thread, so that others are served.
                packed = await asyncio.to_thread(pack, text, before)
                await context.writer.create(key, CONFIG_MAPS, config_map(job, packed, key, owner))
    except (KubeError, Requeue, TimeoutError) as error:
        # Without the error's own words: a node's answer may hold anything.
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
