"""The ends of logs that the operator keeps in ConfigMaps."""

from __future__ import annotations

import base64
from dataclasses import dataclass

from bernstein.api.session import AgentSession
from bernstein.cli.cluster import Cluster
from bernstein.core import labels, names
from bernstein.core.logs.packed import KEY, unpack
from bernstein.core.owners import owner_reference
from bernstein.kube.errors import ApiError, Unauthorized
from bernstein.kube.resource import CONFIG_MAPS, Object, controller_of
from bernstein.resources import SESSIONS

ONLY_THE_END = "Only the end of it was kept."


@dataclass(frozen=True)
class KeptLog:
    """What a ConfigMap holds."""

    text: str = ""
    """As it was printed: to be sanitised wherever it is shown."""
    note: str = ""
    """In plain words, why there is no text or not all of it."""


def of(obj: Object) -> KeptLog:
    """The log that this ConfigMap keeps."""
    try:
        packed = base64.b64decode(obj.get("binaryData", {}).get(KEY, ""), validate=True)
        text = unpack(packed).decode(errors="replace")
    except ValueError as error:
        return KeptLog(note=f"What was kept of it cannot be read: {error}.")
    cut = obj["metadata"].get("annotations", {}).get(labels.CUT) == "true"
    return KeptLog(text, ONLY_THE_END if cut else "")


async def of_agent(cluster: Cluster, session: AgentSession) -> KeptLog | None:
    """What the agent of this very session logged; None: nothing was kept of it that can be read.

    Raises KubeError when the cluster does not answer, or refuses the credentials.
    """
    meta = session.metadata
    try:
        found = await cluster.client.get(CONFIG_MAPS, names.agent_log(meta.name), cluster.namespace)
    except Unauthorized:
        raise
    except ApiError:
        return None
    # Not by the uid alone: a chart's policy keeps from others only what has an owner of our kinds.
    owner, its_own = controller_of(found), owner_reference(SESSIONS.kind, meta.name, meta.uid)
    return of(found) if owner is not None and owner.items() >= its_own.items() else None
