"""Reads what agents have left beside their code, out of the ConfigMaps of their sessions."""

from __future__ import annotations

from bernstein.core import names
from bernstein.core.documents import kept
from bernstein.kube.client import Client
from bernstein.kube.errors import NotFound
from bernstein.kube.resource import CONFIG_MAPS


class DocumentReader:
    def __init__(self, client: Client) -> None:
        self._client = client

    async def read(self, namespace: str, session: str, name: str, sha256: str) -> bytes | None:
        """The document of this name that the session has left; None: what has this digest is not
        there any more. Raises KubeError."""
        try:
            found = await self._client.get(CONFIG_MAPS, names.documents(session), namespace)
        except NotFound:
            return None
        return kept.content(found, name, sha256)
