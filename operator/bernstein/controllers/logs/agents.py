"""Keeps what an agent logged, before its pod goes."""

from __future__ import annotations

from bernstein.api.pod import AGENT
from bernstein.api.session import AgentSession
from bernstein.controllers.logs import kept
from bernstein.controllers.wiring import Context
from bernstein.core import labels, names, pods
from bernstein.core.logs.agents import PACKED_BYTES
from bernstein.core.logs.packed import PackedLog
from bernstein.core.owners import owner_reference
from bernstein.kube.resource import Key, Object
from bernstein.resources import SESSIONS


async def keep(key: Key, session: AgentSession, pod: pods.Object, context: Context) -> None:
    """Makes its ConfigMap, where there is none yet and the agent has logged anything.

    Raises Requeue while its log is being read.
    """
    texts = await context.logs.read([pod], AGENT, timestamps=True)
    packed = await kept.packed(next(iter(texts.values()), None), PACKED_BYTES)
    if packed is not None:
        await kept.store(config_map(session, packed), key, context)


def config_map(session: AgentSession, log_end: PackedLog) -> Object:
    """The log's end as an object that is deleted with its session."""
    meta = session.metadata
    return kept.config_map(
        names.agent_log(meta.name),
        {labels.SESSION: meta.name},
        log_end,
        meta.namespace,
        owner_reference(SESSIONS.kind, meta.name, meta.uid),
    )
