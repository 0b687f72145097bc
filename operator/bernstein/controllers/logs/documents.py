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
from bernstein.core.sanitise import some
from bernstein.core.sessions.actions import KeepDocuments
from bernstein.kube.errors import KubeError, NameConflict, NotYetFree, Requeue
from bernstein.kube.resource import CONFIG_MAPS, Key, Object
from bernstein.observe import logging
from bernstein.resources import SESSIONS

log = logging.logger(__name__)

AGAIN_SECONDS = 10.0
"""Between two tries, where a node or the API server does not do its part."""
_ANOTHER = "If the Task has ended, and others need what is lost, apply another one that leaves it"


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
        which = some(lost, len(lost))
        why = f"The log of the recorder, which has {which}, cannot be had from its node"
        _tell_lost(session, "LogLost", why, _ANOTHER, context)
    if not documents:
        return
    made = config_map(session, documents)
    try:
        await context.writer.create(key, CONFIG_MAPS, made)
    except NameConflict as conflict:  # what is another's stays so
        remedy = f"Delete that ConfigMap. {_ANOTHER}"
        _tell_lost(session, conflict.reason, describe(conflict), remedy, context)
    except NotYetFree:
        if action.again:
            raise
        text = f"ConfigMap '{made['metadata']['name']}' is being deleted, and still there"
        remedy = f"Take out of it the finalizers that it waits for. {_ANOTHER}"
        _tell_lost(session, "BeingDeleted", text, remedy, context)
    except KubeError as error:
        if action.again:
            log.warning("documents not kept", uid=session.metadata.uid, reason=error.reason)
            raise Requeue(AGAIN_SECONDS, "documents cannot be kept yet") from error
        text = f"ConfigMap '{made['metadata']['name']}' cannot be made: {error.reason}"
        remedy = f"Mend what refuses ConfigMaps in this namespace. {_ANOTHER}"
        _tell_lost(session, error.reason, text, remedy, context)


def _tell_lost(session: AgentSession, reason: str, why: str, remedy: str, context: Context) -> None:
    """An Event on the Task: people look there, and its status names what is nowhere."""
    meta, task = session.metadata, session.spec.task_ref
    log.warning("documents lost", uid=meta.uid, reason=reason)
    obj = context.caches.tasks.informer.get(Key(meta.namespace, task.name))
    if obj is None or obj["metadata"]["uid"] != task.uid:
        return
    context.writer.events.record(
        obj,
        reason="DocumentLost",
        message=f"{why}: what attempt {session.spec.attempt} left beside its code is lost. Remedy: "
        f"{remedy}",
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
