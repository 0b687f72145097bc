"""Program `inspect`: all checks of one commit that only read it."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from bernstein.api import encoding, pod
from bernstein.api.pod import EXCERPT_CHARACTERS, Check, CheckVerdict, InspectConfig, InspectResult
from bernstein.checks.paths import InvalidPathError
from bernstein.checks.reading import ChangedFile, CommitReader, EntryKind
from bernstein.checks.scans import reads_of
from bernstein.checks.time_limit import TimeLimitError
from bernstein.checks.verdict import Verdict, errored
from bernstein.core import sanitise
from bernstein.pods import globs, log
from bernstein.pods.errors import PodError
from bernstein.pods.git import contents, trees
from bernstein.pods.git.client import Git, full_ref
from bernstein.pods.git.merge import merge_trees

CONFIG = InspectConfig


def run(config: InspectConfig) -> InspectResult:
    """A verdict for every check. A check that fails to run is Errored and stops no other."""
    commit = Inspected(config)
    verdicts = []
    for check in config.checks:
        verdict = judge(commit, check)
        log.event("check", check=check.name, verdict=verdict.verdict, reason=verdict.reason)
        excerpt = sanitise.text(verdict.excerpt, EXCERPT_CHARACTERS)
        verdicts.append(CheckVerdict(check.name, verdict.verdict, verdict.reason, excerpt))
    return fit(InspectResult(tuple(verdicts)), pod.TERMINATION_LIMIT)


def judge(commit: CommitReader, check: Check) -> Verdict:
    """The verdict of one check; never raises."""
    try:
        return reads_of(check.type).scan(commit, check)
    except InvalidPathError as error:
        return errored("InvalidPath", str(error))
    except PodError as error:
        return errored(error.reason, error.message)
    except TimeLimitError as error:
        return errored("TooSlow", str(error))
    except Exception as error:  # noqa: BLE001 - one broken check must not hide the others
        # Its words may be those of the file that was read.
        text = sanitise.quoting(type(error).__name__, str(error), EXCERPT_CHARACTERS)
        return errored("InternalError", text)


def fit(result: InspectResult, limit: int) -> InspectResult:
    """The result in at most `limit` bytes: the longest excerpts are cut, to the same length."""
    low, high = 0, EXCERPT_CHARACTERS
    while low < high:
        middle = (low + high + 1) // 2
        if len(encoding.dump(_cut(result, middle))) <= limit:
            low = middle
        else:
            high = middle - 1
    return _cut(result, low)


def _cut(result: InspectResult, length: int) -> InspectResult:
    return InspectResult(
        tuple(replace(v, excerpt=sanitise.text(v.excerpt, length)) for v in result.verdicts)
    )


class Inspected:
    """The commit under inspection, as checks see it; its listing is read once for all of them."""

    def __init__(self, config: InspectConfig) -> None:
        self._config = config
        self._repository = Git(Path(config.git_dir))

    @property
    def scan_seconds(self) -> int:
        return self._config.scan_seconds

    # --- what is in the tree --------------------------------------------------------------------

    @cached_property
    def _entries(self) -> dict[str, trees.TreeEntry]:
        entries = trees.entries(self._repository, self._config.sha)
        return {os.fsdecode(path): entry for path, entry in entries.items()}

    @property
    def paths(self) -> Collection[str]:
        return self._entries.keys()

    def kind(self, path: str) -> EntryKind | None:
        entry = self._entries.get(path)
        if entry is None:
            return None
        if entry.is_file:
            return "file"
        if entry.is_symlink:
            return "symlink"
        return "folder" if entry.is_folder else "submodule"

    def size(self, path: str) -> int:
        return self._entries[path].size

    def content(self, path: str) -> bytes:
        return trees.blob(self._repository, self._entries[path].object_id)

    def first_match(self, pattern: str) -> str | None:
        return globs.first_match(pattern, self.paths)

    # --- what the change does -------------------------------------------------------------------

    def changed_files(self) -> Iterator[ChangedFile]:
        config = self._config
        changes = trees.changed_contents(self._repository, config.base, config.sha)
        return contents.changed_files(self._repository, changes)

    @cached_property
    def _changes(self) -> list[trees.PathChange]:
        return trees.changed_paths(self._repository, self._config.base, self._config.sha)

    @property
    def changed_paths(self) -> Collection[str]:
        return {os.fsdecode(change.path) for change in self._changes}

    def changed_contents(
        self, is_wanted: Callable[[str], bool], most: int
    ) -> tuple[Mapping[str, bytes], Mapping[str, bytes]] | None:
        wanted = [change for change in self._changes if is_wanted(os.fsdecode(change.path))]
        return trees.both_contents(self._repository, wanted, most)

    @property
    def added(self) -> Collection[str]:
        return {os.fsdecode(change.path) for change in self._changes if change.is_new_file}

    @property
    def edited(self) -> Collection[str]:
        return {os.fsdecode(change.path) for change in self._changes if change.is_edit}

    @property
    def deleted(self) -> Collection[str]:
        gone = (each for each in self._changes if each.before and not each.after)
        return {os.fsdecode(each.path) for each in gone}

    def pinned_files(
        self, folders: Sequence[str], is_wanted: Callable[[str], bool], most: int
    ) -> Mapping[str, bytes]:
        commit = self._config.pinned or self._config.base
        found = {
            os.fsdecode(path): entry.object_id
            for path, entry in trees.in_folders(self._repository, commit, folders).items()
            if entry.is_file and entry.size <= most and is_wanted(os.fsdecode(path))
        }
        contents = trees.blobs(self._repository, [*found.values()])
        return {path: contents[object_id] for path, object_id in found.items()}

    def conflicts(self) -> tuple[str, ...]:
        onto = self._config.onto_ref
        if not onto:
            raise PodError("InvalidConfig", "there is no ref that the work could be merged with")
        tip = self._repository.commit_id(full_ref(onto))
        return tuple(merge_trees(self._repository, tip, self._config.sha).conflicts)
