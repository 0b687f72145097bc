"""The table that turns git's messages into our reasons."""

from __future__ import annotations

import re
from collections.abc import Mapping

from bernstein.api.reasons import UNTRUSTED, Reason
from bernstein.core import sanitise
from bernstein.pods.errors import PodError

_MESSAGE_LIMIT = 500


class GitError(PodError):
    """git could not do what it was asked to; `reason` is one that `_TABLE` leads to, InternalError
    or InvalidConfig. What helps is in the operator's table of reasons."""


class AmbiguousError(GitError):
    """The server has a branch or tag whose name ends with the whole name of a ref: git cannot be
    told which of both it is to push to."""


# Patterns are texts, compiled when git has failed: every program loads them, and few need one.
_OUR_REF = r"(refs/[A-Za-z0-9._/@+-]{1,300})"
_AMBIGUOUS = (
    rf"(?m)^error: dst refspec {_OUR_REF} matches more than one",
    # Where the ref itself is not there git takes the other one for it.
    rf"(?m)^!\t\S*:refs/(?:heads|tags)/{_OUR_REF}\t\[rejected\]",
)
_AUTHENTICATION = (
    r"(?i)Authentication failed|could not read (Username|Password)|returned error: 40[13]\b"
    r"|Permission denied \(|invalid credentials"
    r"|marked as read only|Permission to \S+ denied to|Write access to repository not granted"
    r"|not allowed to push code|does not have write access|is not authorized to (read|write)"
)
_NOT_SHOWN = (
    r"returned error: 404\b|repository '[^']*' not found|Repository not found"
    r"|project you were looking for could not be found|Cannot find repository"
)
"""What an account may not see, forges call not found."""
_UNREACHABLE = (
    r"(?i)Could not resolve|Failed to connect|Couldn't connect|Connection (refused|timed out|reset)"
    r"|Network is unreachable|No route to host|unable to access|SSL certificate|certificate verif"
    r"|gnutls_handshake|server certificate|Operation too slow|returned error: (30\d|429|5\d\d)"
    r"|does not appear to be a git repository|early EOF"
    r"|unexpected disconnect|hung up unexpectedly|Empty reply|RPC failed|not valid: is this a git"
    r"|Could not read from remote repository|not (currently )?(allowed|supported)"
)
_TABLE = (
    # What the server prints has "remote: " before it with https: that is none of ssh's words.
    (Reason.HOST_KEY_UNTRUSTED, r"(?m)^Host key verification failed"),
    (Reason.REF_NOT_FOUND, r"couldn't find remote ref"),
    (
        Reason.REF_MOVED,
        r"\(stale info\)|\(fetch first\)|\(non-fast-forward\)|remote ref updated since"
        r"|but expected|reference already exists|incorrect old value|failed to update ref"
        r"|failed to lock|cannot lock ref",
    ),
    # Gitea says so in its hook, where others refuse the login.
    ("Authentication", r"User permission denied for writing"),
    (
        Reason.BRANCH_PROTECTED,
        r"(?i)protected branch|\((pre-receive|update|proc-receive) hook declined\)|hook declined"
        r"|branch is currently checked out|deny(ing)? (updating|non-fast-forward)",
    ),
    (
        Reason.REPOSITORY_INVALID,
        r"(?i)fsck error|index-pack failed|unresolved deltas|bad object",
    ),
    (Reason.REPOSITORY_AUTH_FAILED, _NOT_SHOWN),
    ("Authentication", _AUTHENTICATION),
    # Whoever says no has been reached, whatever "not allowed" is in his words.
    (Reason.PUSH_REJECTED, r"\[remote rejected\]"),
    (Reason.REPOSITORY_UNREACHABLE, _UNREACHABLE),
    (Reason.PUSH_REJECTED, r"\[rejected\]|remote unpack failed"),
)

_WHY_UNREACHABLE = (
    (
        "the proxy on the way there (network.proxy) is not known, or refuses it",
        r"resolve proxy|from proxy after CONNECT|CONNECT tunnel failed|Proxy CONNECT"
        r"|Tunnel connection failed",
    ),
    ("it has not answered in time", r"^git \S+ took over \d+ s$|Operation too slow"),
    ("it answers with more than is read of it", r"^git \S+ printed over \d+ bytes$"),
    ("its name is not known here", r"Could not resolve|Name or service not known"),
    (UNTRUSTED, r"certificate"),
    (
        "nothing answers there",
        r"(?i)Failed to connect|Couldn't connect|Connection (refused|timed out|reset)|timed out"
        r"|Network is unreachable|No route to host",
    ),
    # Such as one that ends, or a load balancer with nobody behind it: its certificate is not seen.
    ("it breaks off before it has shown a certificate, or speaks no TLS", r"gnutls|SSL"),
    ("it answers with an error", r"returned error: "),
)
_OF_LOGINS = (Reason.REPOSITORY_AUTH_FAILED, Reason.CREDENTIAL_REFUSED)
_ALARM = r"(?m)^(?:@|IT IS POSSIBLE|Someone could|It is also possible).*\n?"
"""What ssh says first of another host key, at such length that the fingerprint had no room."""
_LACKS_HISTORY = r"\(shallow update not allowed\)"
_NO_SERVER = "what answers is no git server with this repository, or it broke off"
_MEANS: Mapping[str, str] = {
    Reason.REF_NOT_FOUND: "the repository{at} lacks a ref that it was asked for",
    Reason.REF_MOVED: "a ref was elsewhere than expected",
    Reason.BRANCH_PROTECTED: "the rules of the git server{at} keep {account} from this push{to}",
    Reason.REPOSITORY_INVALID: "objects of the repository{at} do not pass git's checks",
    Reason.REPOSITORY_AUTH_FAILED: "{account} does not see the repository{at}",
    Reason.HOST_KEY_UNTRUSTED: (
        "the git server{at} shows a host key that known_hosts of {account} does not hold"
    ),
    Reason.CREDENTIAL_REFUSED: "the git server{at} lets {account} not push{to}",
    Reason.PUSH_REJECTED: "the git server{at} did not take the push{to}",
}


def from_output(
    output: bytes,
    pushing: bool,
    host: str = "",
    account: str = "",
    ref: str = "",
    *,
    oddities: str = "",
) -> GitError:
    """The error for what a failed git wrote to stderr (and, for a push, to stdout).

    A refused login counts against the work or deliver credential when `pushing`, else against the
    read credential. `host`: the git server's. `account`: what the Project calls the one that was
    used; the operator reads it from the message, to name the Secret. `ref`: what was pushed to.
    `oddities`: what `credential.oddities` says of its files.
    """
    words = output.decode("utf-8", "replace")
    meant = (re.search(pattern, words) for pattern in _AMBIGUOUS if pushing)
    if found := next(filter(None, meant), None):
        return _ambiguous(found[1], host, words)
    reason = next((name for name, pattern in _TABLE if re.search(pattern, words)), "InternalError")
    if reason == "Authentication":
        reason = Reason.CREDENTIAL_REFUSED if pushing else Reason.REPOSITORY_AUTH_FAILED
    if reason == Reason.REPOSITORY_UNREACHABLE:
        return unreachable(host, words)
    who = f"the account '{account}'" if account else "this account"
    means = _MEANS.get(reason, "git failed")
    if reason == Reason.PUSH_REJECTED and re.search(_LACKS_HISTORY, words):
        means = "the git server{at} lacks history that this push is on"
    ours = means.format(at=_at(host), account=who, to=f" to '{ref}'" if ref else "")
    if reason == Reason.HOST_KEY_UNTRUSTED:
        words = re.sub(_ALARM, "", words)
    if oddities and reason in _OF_LOGINS:
        ours = f"{ours}; {oddities}"
    return GitError(reason, _quoting(ours, words))


def _ambiguous(ref: str, host: str, words: str) -> AmbiguousError:
    ours = (
        f"the git server{_at(host)} has a branch or tag whose own name is '{ref}', so that git "
        "does not push to the ref of that name: delete it there"
    )
    return AmbiguousError(Reason.PUSH_REJECTED, _quoting(ours, words))


def unreachable(host: str, words: str) -> GitError:
    """The error where the git server at `host` cannot be talked to; `words` say why."""
    why = next((why for why, pattern in _WHY_UNREACHABLE if re.search(pattern, words)), _NO_SERVER)
    text = _quoting(f"the git server{_at(host)} cannot be used: {why}", words)
    return GitError(Reason.REPOSITORY_UNREACHABLE, text)


def _at(host: str) -> str:
    return f" at '{host}'" if host else ""


def _quoting(ours: str, words: str) -> str:
    """git's words are below ours: they repeat what the server and its hooks say."""
    quote = sanitise.line(words, _MESSAGE_LIMIT)
    return sanitise.quoting(ours, quote or "git said nothing", _MESSAGE_LIMIT)
