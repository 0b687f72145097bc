"""What a Project says of a cache of a repository, and what is known of it."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import Field

from bernstein.api.meta import Model, Name, ObjectName, Sha
from bernstein.api.programs import cached

_Count = Annotated[int, Field(ge=0)]


class Cache(Model):
    """Where what checkouts need of the repository is kept, so that they do not fetch it anew."""

    claim: ObjectName
    """PersistentVolumeClaim of the Project's namespace; with more than one node ReadWriteMany."""
    refresh_seconds: Annotated[int, Field(ge=60, le=604800)] = Field(
        default=3600, description="Seconds after which it is looked whether the branch has moved."
    )


class CachedFile(Model):
    """A file on the volume."""

    name: Annotated[str, Field(pattern=r"^pack-[0-9a-f]{40}\.(pack|idx)$", max_length=64)]
    """In the folder."""
    size: Annotated[int, Field(ge=0, le=2**50)]
    """In bytes."""
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$", max_length=64)]
    """Without this one it is not taken."""

    def told(self) -> cached.CachedFile:
        return cached.CachedFile(self.name, self.size, self.sha256)


class CachedContent(Model):
    """What checkouts may copy."""

    commit: Sha
    """All that it needs is there, without what was before it."""
    pack: CachedFile
    index: CachedFile

    def told(self) -> cached.CachedPack:
        return cached.CachedPack(self.commit, self.pack.told(), self.index.told())


class CacheState(Model):
    """The Job that fills the cache of one repository, and what checkouts are told of it."""

    repository: Name
    """By its name in the Project."""
    folder: Annotated[str, Field(pattern=r"^[0-9a-z-]+$", max_length=128)]
    """Of the volume, for this repository."""
    claim: ObjectName
    """Where that is."""
    number: _Count = 0
    """Of the Job; its name has it."""
    at_work: bool = False
    """That Job has yet to tell."""
    content: CachedContent | None = Field(
        default=None, description="Absent: checkouts are told of no cache, and do not mount it."
    )
    filled: datetime | None = None
    """When it was last seen to be what the branch's tip needs."""
    failures: _Count = 0
    """Jobs in a row that could not, and pods that could not mount it."""
    reason: Annotated[str, Field(max_length=64)] | None = None
    """Why not, in one word."""
    message: Annotated[str, Field(max_length=512)] | None = None
    """The same for people."""
    until: datetime | None = Field(
        default=None, description="When the next Job may be made, at the earliest."
    )
