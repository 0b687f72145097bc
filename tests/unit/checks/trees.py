"""A tree in memory, as checks that read are shown one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from bernstein.checks.reading import ChangedFile, EntryKind
from bernstein.pods import globs

LINK = "->"
MODULE = "!"


@dataclass(frozen=True)
class Tree:
    """Contents by path; `->elsewhere` is a symlink and `!` a submodule."""

    after: Mapping[str, str | bytes] = field(default_factory=dict)
    before: Mapping[str, str | bytes] = field(default_factory=dict)
    in_conflict: tuple[str, ...] = ()
    scan_seconds: int = 60
    of_other_mode: Collection[str] = ()
    """Files that are executable now and were not, or the other way round."""
    pinned: Mapping[str, str | bytes] | None = None
    """What the work's Plan started from; None: the same as before the change."""

    @property
    def paths(self) -> Collection[str]:
        above = (str(p) for path in self.after for p in PurePosixPath(path).parents)
        return {*self.after, *(path for path in above if path != ".")}

    def kind(self, path: str) -> EntryKind | None:
        content = self.after.get(path)
        if content is None:
            return "folder" if path in self.paths else None
        if isinstance(content, str) and content.startswith(LINK):
            return "symlink"
        return "submodule" if content == MODULE else "file"

    def size(self, path: str) -> int:
        return len(self.content(path))

    def content(self, path: str) -> bytes:
        return _bytes(self.after[path])

    def first_match(self, pattern: str) -> str | None:
        return globs.first_match(pattern, sorted(self.paths))

    def changed_files(self) -> Iterator[ChangedFile]:
        for path, content in self.after.items():
            before = self.before.get(path, b"")
            if content != before:
                yield ChangedFile(path, _bytes(before), _bytes(content))

    @property
    def changed_paths(self) -> set[str]:
        both = {*self.before, *self.after}
        differing = {path for path in both if self.before.get(path) != self.after.get(path)}
        return differing | {*self.of_other_mode}

    def changed_contents(
        self, is_wanted: Callable[[str], bool], most: int
    ) -> tuple[Mapping[str, bytes], Mapping[str, bytes]] | None:
        before, after = (
            {p: _bytes(tree[p]) for p in self.changed_paths if p in tree and is_wanted(p)}
            for tree in (self.before, self.after)
        )
        held = sum(len(content) for tree in (before, after) for content in tree.values())
        return (before, after) if held <= most else None

    @property
    def added(self) -> Collection[str]:
        new = self.after.keys() - self.before.keys()
        return {path for path in new if _is_file(self.after[path])}

    @property
    def edited(self) -> Collection[str]:
        both = self.changed_paths & self.before.keys() & self.after.keys() - {*self.of_other_mode}
        return {p for p in both if _is_file(self.before[p]) and _is_file(self.after[p])}

    @property
    def deleted(self) -> Collection[str]:
        return self.before.keys() - self.after.keys()

    def pinned_files(
        self, folders: Sequence[str], is_wanted: Callable[[str], bool], most: int
    ) -> Mapping[str, bytes]:
        start = self.before if self.pinned is None else self.pinned
        found = {
            path: _bytes(content)
            for path, content in start.items()
            if str(PurePosixPath(path).parent) in {folder or "." for folder in folders}
            if is_wanted(path) and not (isinstance(content, str) and content.startswith(LINK))
        }
        return {path: content for path, content in found.items() if len(content) <= most}

    def conflicts(self) -> tuple[str, ...]:
        return self.in_conflict


def _is_file(content: str | bytes) -> bool:
    return isinstance(content, bytes) or not (content.startswith(LINK) or content == MODULE)


def _bytes(content: str | bytes) -> bytes:
    return content if isinstance(content, bytes) else content.encode()
