"""What a clone has of a commit's attestation, read with the git of whoever calls.

A clone's refs and objects are whoever's who could push: nothing is believed before its signature
was compared, but for which tree a commit has, which follows from its id.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bernstein.attestation import envelope, statement
from bernstein.attestation.envelope import Refused
from bernstein.attestation.statement import Statement
from bernstein.cli.local import git
from bernstein.cli.local.git import GitFailed
from bernstein.core import names
from bernstein.core.sanitise import line

if TYPE_CHECKING:
    from securesystemslib.signer import Key


_NAMED = ("--no-show-signature", "--end-of-options")
"""Names of commits follow."""
_LISTED = 100_000
"""Bytes: more names of objects than there are in any that was ever made."""


class NoCommit(Exception):  # noqa: N818 - it says what is so
    """The clone has no commit of that name; the text is git's."""


@dataclass(frozen=True)
class Commit:
    """A commit of the clone, with its tree."""

    sha: str
    tree: str


async def commit(folder: str, name: str) -> Commit:
    """What an id, or another name of a commit, stands for there. Raises NoCommit and GitFailed."""
    await _git(folder, "rev-parse", "--git-dir")
    try:
        object_id = await _git(
            *(folder, "rev-parse", "--verify", "--end-of-options"), f"{name}^{{commit}}"
        )
        sha = object_id.decode("ascii", "replace").strip()
        # A partial clone may lack the tree itself, which `rev-parse` would look for.
        tree = await _git(folder, "log", "--max-count=1", "--format=%T", *_NAMED, sha, "--")
    except GitFailed as error:
        raise NoCommit(line(str(error), 300)) from error
    return Commit(sha, tree.decode("ascii", "replace").strip())


async def verified(folder: str, of: Commit, key: Key, resource: str | None = None) -> Statement:
    """What was said of the commit, signed with this key. `resource`: for what; None: for anything.

    Raises Refused: NoAttestation, Unsigned, WrongKey, Tampered, WrongSubject, WrongResource.
    """
    content = await _content(folder, names.attestation_ref(of.sha))
    if len(content) > envelope.LARGEST:
        raise Refused("Tampered", "it is larger than any that was ever made")
    payload = envelope.opened(content, key)
    try:
        claim = statement.read(payload)
    except ValueError as error:
        text = f"it was signed with this key, but says nothing of a verification: {error}"
        raise Refused("WrongSubject", text) from None
    if of.sha not in claim.commits or of.tree not in claim.trees:
        commits = ", ".join(sorted(claim.commits)) or "no commit"
        raise Refused("WrongSubject", f"it was signed with this key, and is about {commits}")
    actual = claim.predicate.get("resourceUri")
    if resource not in (None, actual):
        raise Refused("WrongResource", f"it was verified for {line(str(actual), 500)}")
    return claim


async def _content(folder: str, ref: str) -> bytes:
    """The file at the ref, or a little more than the most that is read."""
    at = f"{ref}:{statement.FILE}"
    try:
        await _git(folder, "rev-parse", "--verify", "--end-of-options", ref)
    except GitFailed:
        raise Refused("NoAttestation", f"the clone has no {ref}") from None
    try:
        return await _git(folder, "cat-file", "blob", at, at_most=envelope.LARGEST)
    except GitFailed as error:
        if await _is_partial(folder, ref):
            text = f"the clone is a partial one: it has {ref}, and not what that holds"
            raise Refused("NoAttestation", text) from None
        text = f"{ref} holds no {statement.FILE}: {line(str(error), 200)}"
        raise Refused("Tampered", text) from None


async def _is_partial(folder: str, ref: str) -> bool:
    """Whether the clone has left contents of that commit on the server."""
    flags = ("--objects", "--no-walk", "--missing=print", "--end-of-options")
    try:
        listed = await _git(folder, "rev-list", *flags, ref, "--", at_most=_LISTED)
    except GitFailed:
        return False
    return any(row.startswith(b"?") for row in listed.splitlines())


async def landings(folder: str, base: str, tip: str, most: int) -> list[Commit]:
    """The commits that landed one after the other, the newest first, and no more than `most`.

    Raises NoCommit.
    """
    flags = ("--first-parent", f"--max-count={most}", "--format=%H %T", *_NAMED)
    try:
        listed = await _git(folder, "log", *flags, f"{base}..{tip}", "--")
    except GitFailed as error:
        raise NoCommit(line(str(error), 300)) from error
    rows = (row.split() for row in listed.decode("ascii", "replace").splitlines())
    return [Commit(sha, tree) for sha, tree in rows]


async def _git(folder: str, *arguments: str, at_most: int | None = None) -> bytes:
    # A replacement of an object would show another tree than the commit has.
    command = ("--no-replace-objects", "-C", folder, *arguments)
    return await git.run(*command, at_most=at_most, offline=True)
