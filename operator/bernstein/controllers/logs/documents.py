"""Keeps what an agent left beside its code, which its recorder has printed, before its pod goes."""

from __future__ import annotations

from collections.abc import Mapping

from bernstein.api.pod import RECORDER
from bernstein.api.session import AgentSession
from bernstein.controllers.wiring import Context
from bernstein.core import labels, names
from bernstein.core.documents import handed, kept
from bernstein.core.owners import owner_reference
from bernstein.core.sessions.actions import KeepDocuments
from bernstein.kube.errors import KubeError, Requeue
from bernstein.kube.resource import CONFIG_MAPS, Key, Object
from bernstein.observe import logging
from bernstein.resources import SESSIONS

log = logging.logger(__name__)

AGAIN_SECONDS = 10.0
"""Between two tries, where a node or the API server does not do its part."""


async def keep(key: Key, session: AgentSession, action: KeepDocuments, context: Context) -> None:
    """Makes its ConfigMap. Raises Requeue while that is not so and may become so."""
    texts = await context.logs.read([action.pod], RECORDER)
    printed = next(iter(texts.values()), b"")
    found = {
        each.name: handed.found(printed, each.name, each.bytes, each.sha256)
        for each in action.documents
    }
    documents = {name: document for name, document in found.items() if document is not None}
    lost = [name for name in found if name not in documents]
    if lost and action.again:
        raise Requeue(AGAIN_SECONDS, "documents cannot be read yet")
    if lost:
        log.warning("documents lost", uid=session.metadata.uid, documents=lost)
    if not documents:
        return
    try:
        await context.writer.create(key, CONFIG_MAPS, config_map(session, documents))
    except KubeError as error:
        log.warning("documents not kept", uid=session.metadata.uid, reason=error.reason)
        if action.again:
            raise Requeue(AGAIN_SECONDS, "documents cannot be kept yet") from error


def config_map(session: AgentSession, documents: Mapping[str, bytes]) -> Object:
    """The documents by name as an object that is deleted with its session."""
    meta = session.metadata
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": names.documents(meta.name),
            "namespace": meta.namespace,
            "labels": {labels.MANAGED_BY: labels.MANAGER, labels.SESSION: meta.name},
            "ownerReferences": [owner_reference(SESSIONS.kind, meta.name, meta.uid)],
        },
        "immutable": True,
        "binaryData": kept.data(documents),
    }
