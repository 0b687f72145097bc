"""Contents of files that a commit adds or edits, a few at a time: together they may be large."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence

from bernstein.checks.reading import ChangedFile
from bernstein.pods.git import trees
from bernstein.pods.git.client import Git
from bernstein.pods.git.trees import ContentChange

_BATCH_BYTES = 32_000_000


def changed_files(repository: Git, changes: Sequence[ContentChange]) -> Iterator[ChangedFile]:
    """Each of the changes with what it had and has. Raises PodError when a blob is not there."""
    sizes = trees.sizes(repository, _ids(changes))
    for batch in _batches(changes, sizes):
        content = trees.blobs(repository, _ids(batch)) | {"": b""}
        for change in batch:
            path = os.fsdecode(change.path)
            yield ChangedFile(path, content[change.before], content[change.after])


def _ids(changes: Sequence[ContentChange]) -> list[str]:
    return [each for change in changes for each in (change.before, change.after) if each]


def _batches(
    changes: Sequence[ContentChange], sizes: Mapping[str, int]
) -> Iterator[list[ContentChange]]:
    """The changes in groups of at most _BATCH_BYTES of content (a larger one is a group alone), so
    that only one group is in memory at a time."""
    batch: list[ContentChange] = []
    held = 0
    for change in changes:
        size = sizes.get(change.before, 0) + sizes.get(change.after, 0)
        if batch and held + size > _BATCH_BYTES:
            yield batch
            batch, held = [], 0
        batch.append(change)
        held += size
    if batch:
        yield batch
