"""Program `collect`: packs what formatters have left, of the files that they were to format.

It runs once they have ended, on files that they and the work may have made hostile: it reads them
as the recorder reads an agent's, under the same limits, has no credential and runs nothing.
"""

from __future__ import annotations

from pathlib import Path

from bernstein.api import encoding
from bernstein.api.programs.commit import CommitText
from bernstein.api.programs.formatting import (
    CHANGED,
    SETTINGS,
    TOLD,
    CollectConfig,
    CollectResult,
    Told,
)
from bernstein.api.reasons import Reason, VerdictReason
from bernstein.core.sanitise import count, quoting
from bernstein.pods import log
from bernstein.pods.session import stream
from bernstein.pods.session.messages import harmless, harmless_line
from bernstein.pods.worktree import packs
from bernstein.pods.worktree.objects import Commit, Objects, RefusedContents
from bernstein.pods.worktree.walker import Entry, Walker

CONFIG = CollectConfig

_PRINTED = 800
"""Characters of what formatters printed last."""
_NAMES = 3
"""Of files that are named in a verdict."""
_NAME = 100
_CODE_BYTES = 16
_TEXT = CommitText(message="formatted\n")
"""Of a commit that nobody sees: its tree is put into another one."""
_NO_TOOL = (127, 128)


class _RefusedError(Exception):
    """What they have left is not taken."""


def run(config: CollectConfig) -> CollectResult:
    """The commit that was handed over: the work's own where nothing is taken.

    Raises PodError: SnapshotTooLarge, ...
    """
    objects = Objects(Path(config.git_dir), Path(config.base_git_dir))
    commit, told, pack = objects.base, _unusable(config), None
    if told is None:
        try:
            commit, files = _commit(config, objects)
            pack = objects.pack(commit) if commit != objects.base else None
            text = f"{count(files, 'file')} formatted"
            told = Told("Passed", "", _with_output(config, text))
        except RefusedContents:
            commit, pack = objects.base, None
            told = _refused(config, "git refuses contents that the formatter has left")
        except _RefusedError as error:
            told = _refused(config, str(error))
    folder = Path(config.packs)
    folder.mkdir(exist_ok=True)
    (folder / TOLD).write_text(encoding.dump(told))
    (folder / TOLD).chmod(0o640)
    record = packs.PackRecord(objects.base.sha, commit.sha, commit.tree, final=True, pack=None)
    packs.publish(folder, 1, record, pack)
    log.event("collected", sha=commit.sha, verdict=told.verdict, reason=told.reason)
    return CollectResult(commit.sha)


def _unusable(config: CollectConfig) -> Told | None:
    """The verdict where the command has not succeeded; None: it has."""
    code = stream.tail_bytes(f"{config.printed}/code", _CODE_BYTES).strip()
    if code == b"0":
        return None
    if not code.isdigit():
        text = "it did not come to an end"
        return Told("Errored", VerdictReason.NO_VERDICT, _quoting_output(config, text))
    if int(code) in _NO_TOOL:
        text = "the command was not found"
        return Told("Errored", Reason.TOOL_MISSING, _quoting_output(config, text))
    text = f"exit code {int(code)}: nothing of what it has formatted is taken"
    return Told("Failed", VerdictReason.EXIT_CODE, _with_output(config, text))


def _refused(config: CollectConfig, text: str) -> Told:
    return Told("Failed", VerdictReason.FORMAT_REFUSED, _with_output(config, text))


def _with_output(config: CollectConfig, text: str) -> str:
    shown = _output(config)
    return f"{text}\n{shown}" if shown else text


def _quoting_output(config: CollectConfig, text: str) -> str:
    """Where they could not run: that is told in conditions, which quote nobody."""
    return quoting(text, _output(config), _PRINTED)


def _output(config: CollectConfig) -> str:
    printed = stream.tail_bytes(f"{config.printed}/output", 4 * _PRINTED)
    return harmless(printed.decode("utf-8", "replace"), 8 * _PRINTED)[-_PRINTED:].strip()


def _commit(config: CollectConfig, objects: Objects) -> tuple[Commit, int]:
    """The commit of the work with what was formatted, and how many files that are."""
    entries, files = _formatted(config, objects)
    return objects.commit(entries, _TEXT, 1), files


def _formatted(config: CollectConfig, objects: Objects) -> tuple[dict[bytes, Entry], int]:
    """Entries of the tree that is to be judged. Raises _RefusedError, PodError."""
    before = objects.base_entries
    walker = Walker(config.worktree, before, config.limits)
    try:
        found = walker.walk(objects).entries
    finally:
        walker.close()
    folder = Path(config.changed)
    lines = (folder / CHANGED).read_bytes().split(b"\n")[:-1]
    may = {line.removeprefix(b"./") for line in lines}
    settings = {*(folder / SETTINGS).read_bytes().split(b"\0")}
    differ = sorted(p for p in before.keys() | found.keys() if before.get(p) != found.get(p))
    entries, others = dict(before), []
    formatted = 0
    for path in (path for path in differ if path not in settings):
        entry = found.get(path)
        if path in may and entry is not None and entry.mode == before[path].mode:
            entries[path] = entry
            formatted += 1
        else:
            others.append(path)
    if others:
        raise _RefusedError(f"it has changed more than it may: {_named(others)}")
    return entries, formatted


def _named(paths: list[bytes]) -> str:
    shown = [harmless_line(p.decode("utf-8", "backslashreplace"), _NAME) for p in paths[:_NAMES]]
    more = len(paths) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")
