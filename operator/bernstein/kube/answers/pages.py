"""Pages of a list, read so that no more than a part of one is parsed at once, however large its
objects are."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import orjson

from bernstein.kube import answers
from bernstein.kube.answers import documents
from bernstein.kube.errors import Unreadable
from bernstein.kube.resource import Object, Resource

LARGEST = 8 * 2**20
"""Bytes of a page of several items: one with more is broken off, and fewer are asked for."""
_FEWER = 4
"""Each try costs up to LARGEST, so it takes few to come down to a single item."""


class Limit:
    """How many items the next page may have."""

    def __init__(self, most: int) -> None:
        self._most = self.items = most

    @property
    def most_bytes(self) -> int | None:
        """A single item is taken however large it is: the API server has a limit for it."""
        return LARGEST if self.items > 1 else None

    def too_large(self) -> None:
        self.items = max(1, self.items // _FEWER)

    def fitted(self, size: int) -> None:
        """A page of so many bytes has come: twice as many items may fit, too."""
        if 2 * size <= LARGEST:
            self.items = min(self._most, 2 * self.items)


class Page:
    """Its items one after another; revision and the token of the next page are known afterwards."""

    def __init__(self, raw: bytes, resource: Resource) -> None:
        self._raw = raw
        self.size = len(raw)
        self._resource = resource
        self.revision = self.token = ""

    async def items(self) -> AsyncIterator[Object]:
        """Raises Unreadable. The loop gets its turn between the items of a large page."""
        whole = self._whole()
        if whole is not None:
            for item in self._framed(whole):
                yield self._named(item)
            return
        try:
            items = documents.Items(self._raw)
            for raw in items:
                await asyncio.sleep(0)
                yield self._named(documents.loads(raw))
                await asyncio.sleep(0)
            frame = documents.loads(items.frame)
        except ValueError as error:
            raise Unreadable(f"the list of {self._resource.plural} cannot be read") from error
        self._framed(frame)

    def _whole(self) -> Any:
        """The page parsed at once, None where that is too much or cannot be."""
        if len(self._raw) > documents.AT_ONCE:
            return None
        try:
            return orjson.loads(self._raw)
        except orjson.JSONDecodeError:
            return None

    def _framed(self, frame: Any) -> list[Object]:
        items, self.revision, self.token = answers.page_of_list(frame)
        return items

    def _named(self, item: Object) -> Object:
        """An item of a list does not say what kind it is."""
        item.setdefault("apiVersion", self._resource.api_version)
        item.setdefault("kind", self._resource.kind)
        return item
