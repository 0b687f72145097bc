"""Program `format`: pushes the work as `collect` has left it, as one commit on the work's base.

It sees neither the worktree nor what formatters printed. It takes only a pack of bounded size that
git's strict check accepts, and of that the tree alone: author, text and parent are ours.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path

from bernstein.api import encoding
from bernstein.api.pod import FORMAT, Changed, PusherConfig
from bernstein.api.programs.formatting import (
    TOLD,
    TOLD_BYTES,
    FormatConfig,
    FormatResult,
    Told,
)
from bernstein.api.reasons import Reason, VerdictReason
from bernstein.pods import log, termination
from bernstein.pods.errors import PodError
from bernstein.pods.git import line_counts, trees
from bernstein.pods.git.client import Git
from bernstein.pods.git.merge import commit_tree
from bernstein.pods.programs.pusher import Intake
from bernstein.pods.worktree import packs

CONFIG = FormatConfig


def run(config: FormatConfig) -> FormatResult:
    """What is to be judged, which is at `to` where it differs from the work.

    Raises PodError: InvalidPack, SnapshotTooLarge, CredentialRefused, ...
    """
    told = _told(Path(config.packs) / TOLD)
    intake = Intake(_intake(config))
    if intake.base != config.sha:
        raise PodError("InvalidPack", f"it was checked out at {intake.base}, not {config.sha}")
    as_it_was = FormatResult(config.base, config.sha, intake.base_tree, told)
    number, record = packs.latest(Path(config.packs)) or (0, None)
    if record is None:
        raise PodError("InvalidPack", "nothing was collected")
    if told.verdict != "Passed" or record.sha == config.sha:
        return _fitting(as_it_was)
    try:
        intake.take(number, record)
    except PodError as error:
        if error.reason != Reason.SECRET_FOUND:
            raise
        return _fitting(_refused(as_it_was, error.message))
    repository = Git(Path(config.git_dir), config.remote)
    if record.tree == repository.tree_id(config.base):
        text = f"nothing is left of the work once it is formatted\n{told.text}"
        return _fitting(_refused(as_it_was, text))
    sha = commit_tree(repository, record.tree, [config.base], config.commit, config.sha)
    changed = trees.changed(repository, config.base, sha, config.protected)
    lines = line_counts.look(repository, config.base, sha)
    changed = dataclasses.replace(changed, **lines.facts)
    # One that an earlier pod of this Job has pushed, or somebody else: it counts for nothing.
    repository.push(config.to, sha, repository.read_ref(config.to))
    log.event("formatted", work=config.sha, sha=sha)
    return _fitting(FormatResult(config.base, sha, record.tree, told, changed))


def _intake(config: FormatConfig) -> PusherConfig:
    return PusherConfig(
        remote=config.remote,
        ref=config.to,
        base_git_dir=config.base_git_dir,
        git_dir=config.git_dir,
        packs=config.packs,
        pack_bytes=config.pack_bytes,
    )


def _refused(as_it_was: FormatResult, text: str) -> FormatResult:
    """The work goes on as it was."""
    told = Told("Failed", VerdictReason.FORMAT_REFUSED, text)
    return dataclasses.replace(as_it_was, told=told)


def _told(file: Path) -> Told:
    with file.open("rb") as opened:
        data = opened.read(TOLD_BYTES)
    try:
        return encoding.load(Told, data)
    except (ValueError, RecursionError) as error:
        raise PodError("InvalidPack", f"{file.name}: {error}") from error


def _fitting(result: FormatResult) -> FormatResult:
    """The result with as much of its text as the termination message has room for; where that is
    not enough, no file is named."""
    while not termination.fits(result, FORMAT):
        told = result.told
        if told.text:
            told = dataclasses.replace(told, text=_shorter(told.text))
            result = dataclasses.replace(result, told=told)
        else:
            changed = result.changed or Changed()
            changed = dataclasses.replace(changed, most=(), protected_more=())
            return dataclasses.replace(result, changed=changed)
    return result


def _shorter(text: str) -> str:
    """What we say of it, and the end of what was printed; then less of our own words."""
    ours, _, printed = text.partition("\n")
    if not printed:
        return ours[: len(ours) // 2]
    left = printed[len(printed) - len(printed) // 2 :]
    return f"{ours}\n{left}" if left else ours
