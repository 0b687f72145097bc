"""Puts the prompt together: the operator's parts, and what only the repository has.

It runs in `checkout`, before any code of an agent does, with the account that only reads.
"""

from __future__ import annotations

import hashlib
import secrets
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path

from bernstein.api import encoding
from bernstein.api.pod import PartSize, PromptConfig, PromptResult, Remote
from bernstein.core import sanitise
from bernstein.core.prompts import knowledge, parts
from bernstein.core.prompts.assembly import Told
from bernstein.core.prompts.complete import complete, unshown
from bernstein.pods import log
from bernstein.pods.errors import PodError
from bernstein.pods.git import context, patch
from bernstein.pods.git.client import Git

_MARK_BYTES = 12
_MOST_CUTS = 20
_LONGEST_CUT = 100
_CUT_BYTES = 1200
"""Of JSON for what was cut and what was not told: it has to fit a termination message with the
rest."""
_UNTOLD_BYTES = 400
"""Of these for what was not told."""


def put_together(
    config: PromptConfig,
    remote: Remote,
    repository: Git,
    commit: str,
    resumed: bool | None = None,
) -> PromptResult:
    """Writes the prompt of an agent that begins with `commit`; returns what it came to.

    `resumed`: whether it has the files of a checkpoint besides; None: it was to have none.

    What is not there or cannot be shown is said in it. Raises PodError(InvalidConfig) only where
    the operator's parts cannot be read.
    """
    content = _content(Path(config.parts))
    change, why = "", ""
    if not resumed and config.rejected_ref is not None and config.rejected_sha is not None:
        rejected = patch.Rejected(config.rejected_ref, config.rejected_sha)
        change, why = _change(config, rejected, remote, repository, commit)
    paths, asked = _read_lists(content)
    files = context.context_files(repository, commit, paths)
    told = context.told(repository, commit, asked)
    # Drawn once all that is quoted has been read: who wrote any of it could not know it.
    made = complete(content, files, change, resumed, lambda: secrets.token_hex(_MARK_BYTES), told)
    data = made.text.encode()
    target = Path(config.to)
    target.write_bytes(data)
    target.chmod(0o444)
    untold = _few(_untold(told), _UNTOLD_BYTES)
    # Not what it says: a log is read by more people than the repository.
    log.event("prompt", bytes=len(data), files=len(files), cut=len(made.cut))
    return PromptResult(
        hashlib.sha256(data).hexdigest(),
        len(data),
        _few(made.cut, _CUT_BYTES - len(encoding.dump(untold))),
        resumed,
        mark=made.word,
        parts=tuple(PartSize(name, size) for name, size in made.sizes.items()),
        unshown=why,
        untold=untold,
    )


def _change(
    config: PromptConfig, rejected: patch.Rejected, remote: Remote, repository: Git, commit: str
) -> tuple[str, str]:
    """What stands in the prompt, and why that is no patch."""
    git_dir = Path(config.git_dir)
    try:
        return patch.patch(remote, rejected, repository, commit, git_dir), ""
    except PodError as error:
        log.event("no-patch", ref=rejected.ref, reason=error.reason, message=error.message)
        return unshown(error.reason), error.reason
    finally:
        shutil.rmtree(git_dir, ignore_errors=True)


def _content(folder: Path) -> Mapping[str, str]:
    """The files of the mounted ConfigMap that are parts of a prompt."""
    names = (*(part.key for part in parts.WRITTEN), parts.CONTEXT, knowledge.LIST)
    try:
        content = _texts(folder, names)
        return content | _texts(folder, knowledge.keys(content))
    except (OSError, ValueError) as error:
        raise PodError("InvalidConfig", f"the prompt's parts cannot be read: {error}") from error


def _texts(folder: Path, names: Iterable[str]) -> dict[str, str]:
    """Of those that are there, with the line ends that they have."""
    there = [name for name in names if (folder / name).exists()]
    return {name: (folder / name).read_bytes().decode() for name in there}


def _read_lists(content: Mapping[str, str]) -> tuple[tuple[str, ...], tuple[Told, ...]]:
    """The paths of context files, and what the Project tells."""
    try:
        return parts.context_of(content), knowledge.told_in(content)
    except ValueError as error:
        raise PodError("InvalidConfig", f"the prompt's parts cannot be read: {error}") from error


def _untold(told: Iterable[Told]) -> tuple[str, ...]:
    """What of it is not there, whatever room there is."""
    return tuple(f"{each.name}: {each.why}" for each in told if each.text is None)


def _few(every: tuple[str, ...], room: int) -> tuple[str, ...]:
    """As many as fit into `room` bytes, and how many more there are."""
    lines = [sanitise.line(each, _LONGEST_CUT) for each in every]
    told: list[str] = []
    for number, line in enumerate(lines):
        room -= len(encoding.dump(line)) + 1
        if room < 0 or len(told) == _MOST_CUTS - 1:
            return (*told, f"and {len(lines) - number} more")
        told.append(line)
    return tuple(told)
