"""What git's messages mean: one table from its words to our reasons."""

from __future__ import annotations

import re

from bernstein.core import sanitise
from bernstein.pods.errors import PodError

_MESSAGE_LIMIT = 500


class GitError(PodError):
    """git could not do it; `reason` is one of the contract's."""


_REMEDIES = {
    "RepositoryUnreachable": "check the repository's URL, its network and its CA",
    "RepositoryAuthFailed": "check the Secret of the read credential and its rights",
    "CredentialRefused": "check the Secret of this credential and its right to push this ref",
    "RefNotFound": "check the name of the branch or ref",
    "BranchProtected": "allow this credential's user to push to the branch, or deliver otherwise",
    "RepositoryInvalid": "the server's objects do not pass git's checks: run `git fsck` there",
    "RefMoved": "somebody else pushed meanwhile; it is looked at again",
    "PushRejected": "see the server's message",
    "InternalError": "look at the pod's log",
}

_AUTHENTICATION = (
    r"Authentication failed|could not read (Username|Password)|returned error: 40[13]\b"
    r"|Permission denied \(|invalid credentials"
)
_UNREACHABLE = (
    r"Could not resolve|Failed to connect|Couldn't connect|Connection (refused|timed out|reset)"
    r"|Network is unreachable|No route to host|unable to access|SSL certificate|certificate verif"
    r"|gnutls_handshake|server certificate|Operation too slow|returned error: (30\d|404|429|5\d\d)"
    r"|repository '[^']*' not found|does not appear to be a git repository|early EOF"
    r"|unexpected disconnect|hung up unexpectedly|Empty reply|RPC failed|not valid: is this a git"
    r"|Could not read from remote repository|not (currently )?(allowed|supported)"
)
_TABLE = (
    ("RefNotFound", re.compile(r"couldn't find remote ref|Remote branch .* not found")),
    (
        "RefMoved",
        re.compile(
            r"\(stale info\)|\(fetch first\)|\(non-fast-forward\)|remote ref updated since"
            r"|but expected|reference already exists|incorrect old value|failed to update ref"
            r"|failed to lock|cannot lock ref",
        ),
    ),
    (
        "BranchProtected",
        re.compile(
            r"protected branch|\((pre-receive|update|proc-receive) hook declined\)|hook declined"
            r"|branch is currently checked out|deny(ing)? (updating|non-fast-forward)",
            re.IGNORECASE,
        ),
    ),
    (
        "RepositoryInvalid",
        re.compile(r"fsck error|index-pack failed|unresolved deltas|bad object", re.IGNORECASE),
    ),
    ("Authentication", re.compile(_AUTHENTICATION, re.IGNORECASE)),
    ("RepositoryUnreachable", re.compile(_UNREACHABLE, re.IGNORECASE)),
    ("PushRejected", re.compile(r"\[remote rejected\]|\[rejected\]|remote unpack failed")),
)


def from_output(output: bytes, pushing: bool) -> GitError:
    """The error for what a failed git wrote to stderr (and, for a push, to stdout)."""
    words = output.decode("utf-8", "replace")
    reason = next((name for name, pattern in _TABLE if pattern.search(words)), "InternalError")
    if reason == "Authentication":
        reason = "CredentialRefused" if pushing else "RepositoryAuthFailed"
    return error(reason, words)


def error(reason: str, words: str) -> GitError:
    """A GitError whose message is git's words, sanitised, with the reason's remedy."""
    said = sanitise.line(words, _MESSAGE_LIMIT) or "git said nothing"
    return GitError(reason, f"{said} ({_REMEDIES[reason]})")
