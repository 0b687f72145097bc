"""What is known of a cache of a repository, by those that fill it and those that read it."""

from __future__ import annotations

from dataclasses import dataclass

from bernstein import places

CACHE = "cache"
"""The Job that fills it, with a container and a program of that name."""
FULL = "CacheFull"
"""The volume has no room."""
NOT_WRITABLE = "CacheNotWritable"
"""The volume cannot be written to, or what is there is no folder of ours."""


@dataclass(frozen=True, slots=True)
class CachedFile:
    """A file of the cache. Whoever can write to the volume cannot make another of this SHA-256."""

    name: str
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class CachedPack:
    """All that one commit needs, without what was before it."""

    commit: str
    pack: CachedFile
    index: CachedFile


@dataclass(frozen=True, slots=True)
class CacheSource:
    """Where `checkout` finds it: a folder of the volume. It is never more than a hint."""

    folder: str
    content: CachedPack
    root: str = places.CACHE
