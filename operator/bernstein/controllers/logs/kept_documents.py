"""Reads what sessions have left beside their code, where a decision needs it."""

from __future__ import annotations

from bernstein.api.meta import Metadata
from bernstein.api.session import KeptDocument
from bernstein.core import names
from bernstein.core.documents import kept
from bernstein.kube.client import Client
from bernstein.kube.errors import NotFound
from bernstein.kube.resource import CONFIG_MAPS

READ_SECONDS = 10.0


class DocumentReader:
    def __init__(self, client: Client) -> None:
        self._client = client.with_timeout(READ_SECONDS)

    async def read(self, session: Metadata, document: KeptDocument) -> bytes | None:
        """The document that the session's status names; None: it is not there any more. Raises
        KubeError."""
        name = names.documents(session.name)
        try:
            found = await self._client.get(CONFIG_MAPS, name, session.namespace)
        except NotFound:
            return None
        return kept.content(found, document.name, document.sha256)
