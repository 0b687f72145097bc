"""Keeps what failed checks printed, before their Jobs go.

Best effort: whatever fails here is logged and dropped, and no verdict waits long for it.
"""

from __future__ import annotations

import asyncio
import base64

from bernstein.controllers.caches import Caches
from bernstein.controllers.jobs.pod import Object
from bernstein.controllers.writer import Writer
from bernstein.core import names
from bernstein.core.intents import KeepReports
from bernstein.core.pods import JobView
from bernstein.core.reports import KEY, Report, pack
from bernstein.kube.errors import KubeError, Requeue
from bernstein.kube.resource import CONFIG_MAPS, Key
from bernstein.observe import logging

log = logging.logger(__name__)

SECONDS = 5.0
"""For all reports of one look at the checks: a node that does not answer holds nothing up."""


async def keep(
    wanted: KeepReports, key: Key, owner: Object, caches: Caches, writer: Writer
) -> None:
    """A ConfigMap for each Job; one that is there already is as good."""
    numbered = enumerate(wanted.jobs, wanted.before)
    await asyncio.gather(*(_keep(job, n, key, owner, caches, writer) for n, job in numbered))


async def _keep(
    job: JobView, before: int, key: Key, owner: Object, caches: Caches, writer: Writer
) -> None:
    assert job.pod is not None
    try:
        async with asyncio.timeout(SECONDS):
            text = await caches.log_of_check(job.pod)
            if text.strip():
                # It may take the better part of a second: others are served meanwhile.
                report = await asyncio.to_thread(pack, text, before)
                await writer.create(key, CONFIG_MAPS, config_map(job, report, key, owner))
    except (KubeError, Requeue, TimeoutError) as error:
        # No words of the error's: a node's answer may hold anything.
        reason = error.reason if isinstance(error, KubeError) else type(error).__name__
        log.warning("report not kept", job=job.name, uid=job.uid, reason=reason)


def config_map(job: JobView, report: Report, key: Key, owner: Object) -> Object:
    """The report as an object that goes with its Task or Plan."""
    whose = names.LABEL_TASK if owner["kind"] == "Task" else names.LABEL_PLAN
    labels = {
        names.LABEL_MANAGED: names.MANAGER,
        names.LABEL_REPORT: job.name,
        names.LABEL_CHECK: job.labels.get(names.LABEL_CHECK, ""),
        whose: names.bounded(owner["name"]),
    }
    metadata: Object = {
        "name": names.report(job.name),
        "namespace": key.namespace,
        "labels": labels,
        "ownerReferences": [owner],
    }
    if report.cut:
        metadata["annotations"] = {names.REPORT_CUT: "true"}
    packed = base64.b64encode(report.packed).decode()
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": metadata,
        "immutable": True,
        "binaryData": {KEY: packed},
    }
