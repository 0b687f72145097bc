"""Program `inspect`: all checks of one commit that only read it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from bernstein.api import pod
from bernstein.api.pod import Check, CheckVerdict, InspectConfig, InspectResult
from bernstein.core import sanitise
from bernstein.gates import tree_checks
from bernstein.gates.time_limit import time_limit
from bernstein.gates.verdict import Verdict, errored, failed, passed
from bernstein.pods import log, trees
from bernstein.pods.errors import PodError
from bernstein.pods.git import Git, full_ref
from bernstein.pods.merging import merge_trees

CONFIG = InspectConfig

_EXCERPT = 1500
_BATCH_BYTES = 32_000_000


def run(config: InspectConfig) -> InspectResult:
    """A verdict for every check; one that cannot be made is Errored and stops no other."""
    inspection = Inspection(config)
    verdicts = []
    for check in config.checks:
        verdict = inspection.verdict(check)
        log.event("check", check=check.name, verdict=verdict.verdict, reason=verdict.reason)
        excerpt = sanitise.text(verdict.excerpt, _EXCERPT)
        verdicts.append(CheckVerdict(check.name, verdict.verdict, verdict.reason, excerpt))
    return fit(InspectResult(tuple(verdicts)), pod.TERMINATION_LIMIT)


def fit(result: InspectResult, limit: int) -> InspectResult:
    """The result in at most `limit` bytes: the longest excerpts are cut, to the same length."""
    low, high = 0, _EXCERPT
    while low < high:
        middle = (low + high + 1) // 2
        if len(pod.dump(_cut(result, middle))) <= limit:
            low = middle
        else:
            high = middle - 1
    return _cut(result, low)


def _cut(result: InspectResult, length: int) -> InspectResult:
    return InspectResult(
        tuple(replace(v, excerpt=sanitise.text(v.excerpt, length)) for v in result.verdicts)
    )


class Inspection:
    """The commit under inspection; what several checks need is read once."""

    def __init__(self, config: InspectConfig) -> None:
        self._config = config
        self._repository = Git(Path(config.git_dir))

    def verdict(self, check: Check) -> Verdict:
        """What the check comes to; never raises."""
        checks: dict[str, Callable[[Check], Verdict]] = {
            "path_exists": self._path_exists,
            "glob_exists": self._glob_exists,
            "file_contains": self._file_contains,
            "pii_scan": self._pii_scan,
            "merge_conflict": self._merge_conflict,
        }
        if check.type not in checks:
            return errored("InvalidConfig", f"no check is called {check.type!r}")
        try:
            return checks[check.type](check)
        except tree_checks.InvalidPathError as error:
            return errored("InvalidPath", str(error))
        except PodError as error:
            return errored(error.reason, error.message)
        except TimeoutError as error:
            return errored("TooSlow", str(error))
        except Exception as error:  # noqa: BLE001 - one broken check must not hide the others
            return errored("InternalError", f"{type(error).__name__}: {error}")

    # --- what is in the tree --------------------------------------------------------------------

    @cached_property
    def _entries(self) -> dict[str, trees.Entry]:
        found = trees.entries(self._repository, self._config.sha)
        return {os.fsdecode(path): entry for path, entry in found.items()}

    def _kind(self, path: str) -> tree_checks.Kind | None:
        entry = self._entries.get(path)
        if entry is None:
            return None
        if entry.is_file:
            return "file"
        if entry.is_symlink:
            return "symlink"
        return "folder" if entry.is_folder else "submodule"

    def _symlink_above(self, path: str) -> str | None:
        parts = path.split("/")
        above = ("/".join(parts[:i]) for i in range(1, len(parts)))
        return next((each for each in above if self._kind(each) == "symlink"), None)

    def _path_exists(self, check: Check) -> Verdict:
        path = tree_checks.normal_path(check.path)
        kind, above = self._kind(path), self._symlink_above(path)
        return tree_checks.path_exists(check.path, kind, above)

    def _glob_exists(self, check: Check) -> Verdict:
        return tree_checks.glob_exists(check.value, self._entries)

    def _file_contains(self, check: Check) -> Verdict:
        path = tree_checks.normal_path(check.path)
        verdict = tree_checks.not_a_file(path, self._kind(path), self._symlink_above(path))
        if verdict is not None:
            return verdict
        entry = self._entries[path]
        if entry.size > tree_checks.CONTENT_BYTES:
            return errored("TooLarge", f"{path} has {entry.size} bytes")
        content = trees.blob(self._repository, entry.object_id)
        return tree_checks.file_contains(path, content, check.contains, check.regex)

    # --- what the change does -------------------------------------------------------------------

    def _pii_scan(self, _check: Check) -> Verdict:
        from bernstein.gates import pii_scan

        with time_limit(self._config.scan_seconds):
            return pii_scan.scan(
                pii_scan.ChangedFile(os.fsdecode(path), before, after)
                for path, before, after in self._contents()
            )

    def _contents(self) -> Iterator[tuple[bytes, bytes, bytes]]:
        """(path, before, after) of every file or symlink with new content."""
        config = self._config
        changes = trees.changed_contents(self._repository, config.base, config.sha)
        ids = [each for change in changes for each in (change.before, change.after) if each]
        sizes = trees.sizes(self._repository, ids)
        for batch in _batches(changes, sizes):
            ids = [each for change in batch for each in (change.before, change.after) if each]
            content = trees.blobs(self._repository, ids) | {"": b""}
            for change in batch:
                yield change.path, content[change.before], content[change.after]

    def _merge_conflict(self, _check: Check) -> Verdict:
        onto = self._config.onto_ref
        if not onto:
            return errored("InvalidConfig", "merge_conflict was given no ref to merge with")
        tip = self._repository.text("rev-parse", "--verify", f"{full_ref(onto)}^{{commit}}")
        merged = merge_trees(self._repository, tip, self._config.sha)
        if not merged.conflicts:
            return passed()
        return failed("Conflict", "conflicts with the base tip in:\n" + "\n".join(merged.conflicts))


def _batches(
    changes: list[trees.ContentChange], sizes: dict[str, int]
) -> Iterator[list[trees.ContentChange]]:
    batch: list[trees.ContentChange] = []
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
