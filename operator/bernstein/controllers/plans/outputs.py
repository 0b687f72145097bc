"""Reads the values that agents of nodes have left, at the moment when a condition asks for them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from bernstein.api.task import Output
from bernstein.controllers.documents import DocumentReader
from bernstein.core.documents import OUTPUT
from bernstein.core.documents.values import Json, Problem
from bernstein.observe import logging

log = logging.logger(__name__)

MOST_KNOWN = 64
"""Documents of which the values are kept: while a loop goes on they are asked for at each look."""
Tell = Callable[[Output], None]
_Whose = tuple[str, str, str]
"""Namespace, session and SHA-256: what one session has lost, another one may have left as well."""


class Outputs:
    """Of the sessions that were asked for last."""

    def __init__(self, documents: DocumentReader, most: int = MOST_KNOWN) -> None:
        self._documents = documents
        self._most = most
        self._known: dict[_Whose, Json] = {}
        """Those asked for last are last."""

    async def of(self, namespace: str, wanted: Iterable[Output], lost: Tell) -> Mapping[str, Json]:
        """By SHA-256; null for what is `lost`, which is told of once. Raises KubeError, so that it
        is asked for again."""
        found: dict[str, Json] = {}
        for left in wanted:
            value = await self._value(namespace, left, lost)
            if found.get(left.sha256) is None:
                found[left.sha256] = value
        return found

    async def _value(self, namespace: str, left: Output, lost: Tell) -> Json:
        whose = (namespace, left.session, left.sha256)
        if whose in self._known:
            value = self._known.pop(whose)
        else:
            value = await self._read(namespace, left, lost)
        self._known[whose] = value
        if len(self._known) > self._most:
            del self._known[next(iter(self._known))]
        return value

    async def _read(self, namespace: str, left: Output, lost: Tell) -> Json:
        document = await self._documents.read(namespace, left.session, OUTPUT.name, left.sha256)
        if document is None:
            log.warning("output lost", session=left.session, sha256=left.sha256)
            lost(left)
            return None
        value = OUTPUT.parsed(document)
        return None if isinstance(value, Problem) else value
