"""Keeps what an agent left beside its code, which its recorder has printed, before its pod goes."""

from __future__ import annotations

from collections.abc import Mapping

from bernstein.api.pod import RECORDER
from bernstein.api.session import AgentSession
from bernstein.controllers.execution import describe
from bernstein.controllers.wiring import Context
from bernstein.core import labels, names
from bernstein.core.documents import handed, kept
from bernstein.core.owners import owner_reference
from bernstein.core.sessions.actions import KeepDocuments
from bernstein.kube.errors import KubeError, NameConflict, NotYetFree, Requeue
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
    made = config_map(session, documents)
    try:
        await context.writer.create(key, CONFIG_MAPS, made)
    except NameConflict as conflict:
        _tell_lost(session, describe(conflict), context)  # what is another's stays so
    except NotYetFree:
        if action.again:
            raise
        text = f"ConfigMap '{made['metadata']['name']}' is being deleted, and still there"
        _tell_lost(session, text, context)
    except KubeError as error:
        log.warning("documents not kept", uid=session.metadata.uid, reason=error.reason)
        if action.again:
            raise Requeue(AGAIN_SECONDS, "documents cannot be kept yet") from error


def _tell_lost(session: AgentSession, why: str, context: Context) -> None:
    """An Event on the Task: people look there, and its status names what is nowhere."""
    meta, task = session.metadata, session.spec.task_ref
    log.warning("documents not kept", uid=meta.uid, reason=NameConflict.reason)
    obj = context.caches.tasks.informer.get(Key(meta.namespace, task.name))
    if obj is None or obj["metadata"]["uid"] != task.uid:
        return
    context.writer.events.record(
        obj,
        reason="DocumentLost",
        message=f"{why}: what attempt {session.spec.attempt} left beside its code is lost. Remedy: "
        "Delete that ConfigMap, and have the Task done again where others need what is lost",
        action="KeepDocuments",
        warning=True,
    )


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
