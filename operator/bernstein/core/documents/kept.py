"""The ConfigMap in which the documents of a session are kept, as one is read again."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

from bernstein.core.documents import handed


def data(documents: Mapping[str, bytes]) -> dict[str, str]:
    """The `binaryData` of the ConfigMap: what is in it by name, as it came."""
    return {name: base64.b64encode(each).decode("ascii") for name, each in documents.items()}


def content(config_map: Mapping[str, Any], name: str, sha256: str) -> bytes | None:
    """The document of that name and digest; None: it does not hold that one."""
    try:
        document = base64.b64decode((config_map.get("binaryData") or {})[name], validate=True)
    except (KeyError, ValueError):
        return None
    return document if handed.digest(document) == sha256 else None
