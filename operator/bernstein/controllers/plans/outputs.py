"""Reads the values that agents of nodes have left, at the moment when a condition asks for them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from bernstein.api.plans.workflow import MAX_NODES
from bernstein.api.task import Output
from bernstein.controllers.documents import DocumentReader
from bernstein.core import documents
from bernstein.core.documents import OUTPUT
from bernstein.core.documents.values import Json, Problem
from bernstein.observe import logging

log = logging.logger(__name__)

_OF_PLAN = MAX_NODES
"""Documents that one Plan can ask for: its nodes, of each the last run."""
MOST_KNOWN = 8 * _OF_PLAN
"""Documents of which the values are kept: while a loop goes on they are asked for at each look."""
MOST_BYTES = 2 * _OF_PLAN * documents.MOST_BYTES
"""That these have together: no Plan can have more than half of it."""
Tell = Callable[[Output], None]
_Whose = tuple[str, str, str]
"""Namespace, session and SHA-256: what one session has lost, another one may have left as well."""


class _Value(NamedTuple):
    value: Json
    bytes: int
    """Of the document: what is made of it has a few times as many."""


class Outputs:
    """Of the sessions that were asked for last."""

    def __init__(
        self, reader: DocumentReader, most: int = MOST_KNOWN, most_bytes: int = MOST_BYTES
    ) -> None:
        self._documents = reader
        self._most = most
        self._most_bytes = most_bytes
        self._known: dict[_Whose, _Value] = {}
        """Those asked for last are last."""
        self._bytes = 0
        """Of all that are known."""

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
        known = self._known.pop(whose, None)
        if known is None:
            known = await self._read(namespace, left, lost)
            # Another look may have read it meanwhile.
            self._forget(whose)
            self._bytes += known.bytes
        self._known[whose] = known
        while len(self._known) > self._most or self._bytes > self._most_bytes:
            self._forget(next(iter(self._known)))
        return known.value

    def _forget(self, whose: _Whose) -> None:
        gone = self._known.pop(whose, None)
        self._bytes -= gone.bytes if gone is not None else 0

    async def _read(self, namespace: str, left: Output, lost: Tell) -> _Value:
        document = await self._documents.read(namespace, left.session, OUTPUT.name, left.sha256)
        if document is None:
            log.warning("output lost", session=left.session, sha256=left.sha256)
            lost(left)
            return _Value(None, 0)
        value = OUTPUT.parsed(document)
        return _Value(None if isinstance(value, Problem) else value, len(document))
