"""The git of whoever calls, with that person's own access: none of ours is needed, or used.

What it reads from a repository was written by agents: it runs in a bare repository of its own, in
which no hook, filter, attribute or program of that content has an effect.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Mapping
from pathlib import Path

_SETTINGS = (
    *("http.followRedirects=false", "core.hooksPath=/dev/null", "protocol.ext.allow=never"),
    *("gc.auto=0", "core.quotePath=true", "diff.noprefix=false", "diff.mnemonicPrefix=false"),
)
_OF_A_REPOSITORY = (
    *("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR"),
    *("GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_NAMESPACE", "GIT_PREFIX", "GIT_CONFIG"),
    *("GIT_EXTERNAL_DIFF", "GIT_DIFF_OPTS", "GIT_ATTR_SOURCE", "GIT_CEILING_DIRECTORIES"),
)
"""Variables that say of which repository, as a hook of one sets them, or how to show it."""

_NOBODY_ANSWERS = {
    "GIT_TERMINAL_PROMPT": "0",
    "SSH_ASKPASS": "false",
    "SSH_ASKPASS_REQUIRE": "force",
}
"""ssh would ask at the terminal, which is not its standard input."""

_NO_SERVER = {"GIT_ALLOW_PROTOCOL": "none"}
"""No transport is called so: a partial clone would fetch what it lacks when that is read."""


class GitFailed(Exception):  # noqa: N818 - it says what is so
    """What was asked of git did not work; the text is one line, partly the server's words."""


async def run(
    *arguments: str,
    folder: Path | None = None,
    seconds: float = 30.0,
    at_most: int | None = None,
    asks: bool = False,
    offline: bool = False,
) -> bytes:
    """Standard output of git in the bare repository `folder`, or in none.

    `at_most`: bytes after which git is ended; one more than that is returned. `asks`: it may ask
    for a password at a terminal. `offline`: no server is asked for anything. Raises GitFailed.
    """
    where = () if folder is None else (f"--git-dir={folder}",)
    settings = (word for setting in _SETTINGS for word in ("-c", setting))
    try:
        process = await asyncio.create_subprocess_exec(
            *("git", *where, *settings, *arguments),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=_environment(os.environ, asks=asks and sys.stdin.isatty())
            | (_NO_SERVER if offline else {}),
        )
    except OSError as error:
        raise GitFailed(f"git cannot be started: {error.strerror}") from error
    try:
        async with asyncio.timeout(seconds):
            out, err, cut = await _read(process, at_most)
    except TimeoutError:
        raise GitFailed(f"no answer within {seconds:.0f} s") from None
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode and not cut:
        raise GitFailed(_why(err) or f"git ended with {process.returncode}")
    return out


def _why(err: bytes) -> str:
    """The line that says what went wrong: behind it git may give advice."""
    rows = [row for row in err.decode(errors="replace").splitlines() if row.strip()]
    fatal = [row.partition(": ")[2] for row in rows if row.startswith("fatal: ")]
    return next(iter(fatal or rows[-1:]), "")


async def _read(
    process: asyncio.subprocess.Process, at_most: int | None
) -> tuple[bytes, bytes, bool]:
    """(standard output, standard error, whether there was more); git may still run then."""
    assert process.stdout is not None
    if at_most is None:
        out, err = await process.communicate()
        return out, err, False
    told = asyncio.create_task(_drained(process))
    out = b""
    while len(out) <= at_most and (more := await process.stdout.read(1 << 16)):
        out += more
    if len(out) > at_most:
        told.cancel()
        return out[: at_most + 1], b"", True
    err = await told
    await process.wait()
    return out, err, False


async def _drained(process: asyncio.subprocess.Process) -> bytes:
    assert process.stderr is not None
    return await process.stderr.read()


def _environment(own: Mapping[str, str], *, asks: bool) -> dict[str, str]:
    """The person's, with which the credentials are found."""
    kept = {name: value for name, value in own.items() if name not in _OF_A_REPOSITORY}
    prompts = {} if asks else _NOBODY_ANSWERS
    return {**kept, **prompts, "LC_ALL": "C"}
