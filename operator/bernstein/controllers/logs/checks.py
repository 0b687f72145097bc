"""Keeps what failed checks printed, before their Jobs go."""

from __future__ import annotations

from bernstein.api.pod import CHECK
from bernstein.controllers.jobs.pod import Object, owner_label
from bernstein.controllers.logs import kept
from bernstein.controllers.wiring import Context
from bernstein.core import labels, names
from bernstein.core.actions import KeepCheckLogs
from bernstein.core.jobs import JobView
from bernstein.core.logs.checks import room
from bernstein.core.logs.packed import PackedLog
from bernstein.kube.resource import Key


async def keep(action: KeepCheckLogs, key: Key, owner: Object, context: Context) -> None:
    """Makes a ConfigMap for each Job, where there is none yet.

    Raises Requeue while their logs are being read.
    """
    pods = [job.pod for job in action.jobs if job.pod is not None]
    texts = await context.logs.read(pods, CHECK)
    for before, job in enumerate(action.jobs, action.before):
        text = texts.get(str(job.pod["metadata"]["uid"])) if job.pod is not None else None
        packed = await kept.packed(text, room(before))
        if packed is not None:
            await kept.store(config_map(job, packed, key, owner), key, context)


def config_map(job: JobView, log_end: PackedLog, key: Key, owner: Object) -> Object:
    """The log's end as an object that is deleted with its Task or Plan."""
    told = {
        labels.CHECK_LOG: job.name,
        labels.CHECK: job.labels.get(labels.CHECK, ""),
        **owner_label(owner),
        **{label: name for label, name in job.labels.items() if label == labels.REPOSITORY},
    }
    return kept.config_map(names.check_log(job.name), told, log_end, key.namespace, owner)
