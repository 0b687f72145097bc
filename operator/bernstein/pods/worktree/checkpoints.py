"""The agent's tree as commits that are handed to the pusher: checkpoints, then the last state."""

from __future__ import annotations

import dataclasses
import os
import time
from pathlib import Path

from bernstein.api.pod import Changed, RecorderConfig
from bernstein.api.programs.commit import CommitText
from bernstein.checks.changes import changed_from_paths
from bernstein.core import documents
from bernstein.core.documents import DOCUMENTS, Document
from bernstein.core.sessions import blocked
from bernstein.pods import log
from bernstein.pods.errors import PodError
from bernstein.pods.worktree import left, packs
from bernstein.pods.worktree.folders import Folders
from bernstein.pods.worktree.ignored import Ignored
from bernstein.pods.worktree.objects import Objects, RefusedContents, with_trailer
from bernstein.pods.worktree.walker import Tree, Walker

_TRAILER_SKIPPED = "Bernstein-Tree-Files-Skipped"
_REFUSAL_ROUNDS = 3
_BLOCKED = os.fsencode(blocked.PATH)
_UNKEPT = (_BLOCKED, *(os.fsencode(document.path) for document in DOCUMENTS))

Trailers = tuple[tuple[str, str], ...]
"""Names and values."""


class Checkpoints:
    """The agent's tree as commits: the last one that was handed to the pusher, and the next."""

    def __init__(self, config: RecorderConfig) -> None:
        self._config = config
        self._packs = Path(config.packs)
        self._packs.mkdir(exist_ok=True)
        self.objects = Objects(Path(config.git_dir), Path(config.base_git_dir))
        base = self.objects.base_entries
        unseen = Folders(config.folders).left_out(base)
        self._walker = Walker(config.worktree, base, config.limits, unkept=_UNKEPT, unseen=unseen)
        self._number = max(packs.numbers(self._packs), default=0)
        self._entries = self.objects.base_entries
        self._skipped = 0
        self._ignored = Ignored()
        self.commit = self.objects.base
        self.record: packs.PackRecord | None = None

    def close(self) -> None:
        self._walker.close()

    @property
    def skipped(self) -> int:
        """Files that the last look at the tree left out."""
        return self._skipped

    @property
    def ignored(self) -> str:
        """What rules ignored, in words, where nothing else changed."""
        return str(self._ignored) if self.commit == self.objects.base else ""

    @property
    def latest_change(self) -> int:
        """Newest ctime in the tree, in nanoseconds."""
        return self._walker.latest_change

    def checkpoint(self, *, final: bool, ending: Trailers = ()) -> None:
        """Read the tree; if it changed, or this is the `final` state, hand its commit over. What
        `ending` says of the end stands in its last lines.

        Raises PodError (SnapshotTooLarge, ...); the pusher then still has the checkpoint before.
        """
        if self.objects.written_bytes > self._config.limits.total_bytes:
            self.objects.reset()
            self._walker.forget()
        for refusals in range(_REFUSAL_ROUNDS):
            tree = self._read_tree()
            try:
                self._advance(tree, final=final, ending=ending)
            except RefusedContents as refused:
                self._walker.refuse(refused.object_ids)
                if refusals:  # git names one file at a time, and there may be any number of them
                    self._walker.refuse_checked_names()
            else:
                return
        raise PodError("InvalidPack", "git refuses files of the base that the tree keeps")

    def _read_tree(self) -> Tree:
        try:
            tree = self._walker.walk(self.objects)
        except PodError:
            self.objects.discard()
            raise
        self._skipped, self._ignored = tree.skipped, tree.ignored
        return tree

    def _advance(self, tree: Tree, *, final: bool, ending: Trailers) -> None:
        """Hand the tree's commit over, unless it is that of the checkpoint before and not final."""
        base, commit, pack = self.objects.base, self.commit, None
        name = self.record.pack if self.record else None
        if tree.entries != self._entries or ending:
            commit = self.objects.commit(tree.entries, self._text(tree, ending), int(time.time()))
            pack = None if commit == base else self.objects.pack(commit)
            name = None
        elif not final:
            return
        self._hand_over(packs.PackRecord(base.sha, commit.sha, commit.tree, final, name), pack)
        self._entries, self.commit = tree.entries, commit
        log.event("recorded", sha=commit.sha, final=final, skipped=tree.skipped)

    def _text(self, tree: Tree, ending: Trailers) -> CommitText:
        text = self._config.commit
        skipped = ((_TRAILER_SKIPPED, str(tree.skipped)),) if tree.skipped else ()
        for name, value in (*skipped, *ending):
            text = with_trailer(text, name, value)
        return text

    def blocked(self) -> blocked.Block | None:
        """What the agent's file says that it waits for; None: there is no such file.

        Raises ValueError, which says what is wrong with it.
        """
        data = self._left(_BLOCKED, blocked.MOST_BYTES)
        return blocked.read(data) if data is not None else None

    def document(self, document: Document) -> bytes | None:
        """What is handed over for what the agent has left as this; None: nothing. Raises ValueError
        in the same way."""
        data = self._left(os.fsencode(document.path), documents.MOST_BYTES)
        if data is None:
            return None
        if document not in documents.named(self._config.documents):
            raise ValueError("nobody asks this task for one")
        return left.taken(document, data)

    def _left(self, path: bytes, most: int) -> bytes | None:
        """As much of the file as shows whether it has more than `most` bytes."""
        try:
            return self._walker.read(path, most + 1)
        except OSError:
            raise ValueError("it is no regular file that can be read") from None

    def changed(self) -> Changed:
        """What the last commit changes against the base."""
        before, after = self.objects.base_entries, self._entries
        paths = [path for path in {**before, **after} if before.get(path) != after.get(path)]
        facts = changed_from_paths(paths, self._config.protected)
        lines = self.objects.lines(self.commit)
        return dataclasses.replace(facts, **lines.facts)

    def abort(self) -> None:
        """Tell the pusher that no final state will come."""
        base = self.objects.base
        last = self.record or packs.PackRecord(
            base.sha, base.sha, base.tree, final=False, pack=None
        )
        self._hand_over(dataclasses.replace(last, final=False, aborted=True), None)

    def _hand_over(self, record: packs.PackRecord, pack: Path | None) -> None:
        self._number += 1
        self.record = packs.publish(self._packs, self._number, record, pack)
