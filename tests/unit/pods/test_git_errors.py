"""What becomes of git's words: a reason, a sentence of ours, and themselves as a quote."""

from __future__ import annotations

import time

import pytest

from bernstein.core.reasons import policy
from bernstein.core.sanitise import quoted, without_quotes
from bernstein.pods.git.errors import from_output, unreachable

FATAL = "fatal: unable to access 'https://git.example/app.git/': "
GONE = "fatal: repository 'https://git.example/app.git/' not found"
BREAKS_OFF = "it breaks off before it has shown a certificate, or speaks no TLS"
CAUSES = {
    "Could not resolve host: git.example": "its name is not known here",
    "Failed to connect to git.example port 443 after 3 ms: Couldn't connect to server": (
        "nothing answers there"
    ),
    "SSL certificate problem: unable to get local issuer certificate": (
        "its certificate is not trusted"
    ),
    "server certificate verification failed. CAfile: /ca.crt CRLfile: none": (
        "its certificate is not trusted"
    ),
    "gnutls_handshake() failed: The TLS connection was non-properly terminated.": BREAKS_OFF,
    "gnutls_handshake() failed: An unexpected TLS packet was received.": BREAKS_OFF,
    "OpenSSL SSL_connect: SSL_ERROR_SYSCALL in connection to git.example:443": BREAKS_OFF,
    "OpenSSL SSL_connect: Connection reset by peer in connection to git.example:443": (
        "nothing answers there"
    ),
    "The requested URL returned error: 503": "it answers with an error",
    "Empty reply from server": "what answers is no git server with this repository",
}


@pytest.mark.parametrize("words", CAUSES)
def test_who_cannot_be_reached_is_named_and_why(words: str) -> None:
    found = from_output(f"{FATAL}{words}\n".encode(), pushing=False, host="git.example")

    assert found.reason == "RepositoryUnreachable"
    ours = without_quotes(found.message)
    assert ours.startswith(f"the git server at 'git.example' cannot be used: {CAUSES[words]}")
    assert quoted(found.message) == f"{FATAL}{words}"


@pytest.mark.parametrize("pushing", [False, True])
@pytest.mark.parametrize(
    "words",
    [
        f"remote: Repository not found.\n{GONE}",
        "remote: \nremote: The project you were looking for could not be found or you don't have "
        f"permission to view it.\nremote: \n{GONE}",
        f"remote: Not found.\n{GONE}",
        "remote: TF401019: The Git repository with name or identifier app does not exist or you do "
        f"not have permissions for the operation you are attempting.\n{GONE}",
        f"{FATAL}The requested URL returned error: 404",
        "error: RPC failed; HTTP 404 curl 22 The requested URL returned error: 404\n"
        "send-pack: unexpected disconnect while reading sideband packet\n"
        "fatal: the remote end hung up unexpectedly",
    ],
    ids=["github", "gitlab", "gitea", "azure", "404", "push"],
)
def test_not_found_of_a_forge_is_that_this_account_does_not_see_the_repository(
    words: str, pushing: bool
) -> None:
    found = from_output(words.encode(), pushing=pushing, host="git.example")

    assert found.reason == "RepositoryAuthFailed"
    ours = without_quotes(found.message)
    assert ours.startswith("this account does not see the repository at 'git.example'")
    assert policy(found.reason).remedy.startswith("Check the url, and user name and password")


def test_the_account_that_was_refused_is_named() -> None:
    found = from_output(b"fatal: Authentication failed for 'https://x/'", False, "x", "read")

    assert without_quotes(found.message).startswith(
        "the account 'read' does not see the repository at 'x'"
    )


def test_of_another_host_key_the_fingerprint_is_quoted_and_no_alarm() -> None:
    bar = "@" * 59
    words = (
        f"{bar}\n@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @\n{bar}\n"
        "IT IS POSSIBLE THAT SOMEONE IS DOING SOMETHING NASTY!\n"
        "Someone could be eavesdropping on you right now (man-in-the-middle attack)!\n"
        "It is also possible that a host key has just been changed.\n"
        "The fingerprint for the ED25519 key sent by the remote host is\nSHA256:jCJcA2DyLy8.\n"
        "Host key verification failed.\r\nfatal: Could not read from remote repository.\n"
    )

    found = from_output(words.encode(), False, "git.example", "read")

    assert found.reason == "HostKeyUntrusted"
    said = "The fingerprint for the ED25519 key sent by the remote host is SHA256:jCJcA2DyLy8."
    assert quoted(found.message).startswith(said)


def test_spaces_that_are_sent_with_a_password_are_told_where_the_login_is_refused() -> None:
    blanks = "'password' in its Secret has spaces or tabs at an end"
    refused = from_output(b"fatal: Authentication failed", False, "x", "read", oddities=blanks)
    moved = from_output(b"! [rejected] (stale info)", True, "x", "work", oddities=blanks)

    assert without_quotes(refused.message).endswith(f"; {blanks}")
    assert blanks not in moved.message


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("! [remote rejected] x (pre-receive hook declined)", "BranchProtected"),
        (
            "remote: Gitea: User permission denied for writing.\n"
            "! [remote rejected] x (pre-receive hook declined)",
            "CredentialRefused",
        ),
        ("! [remote rejected] x (no room)", "PushRejected"),
        ("! [remote rejected] x (shallow update not allowed)", "PushRejected"),
        ("! [remote rejected] x (updates of this ref are not supported)", "PushRejected"),
        ("! [rejected] x (stale info)", "RefMoved"),
        ("fatal: Authentication failed for 'https://git.example/'", "CredentialRefused"),
        ("fatal: repository 'https://git.example/x/' not found", "RepositoryAuthFailed"),
        ("fatal: fsck error in packed object", "RepositoryInvalid"),
        ("fatal: something new", "InternalError"),
    ],
)
def test_what_a_hook_prints_is_a_quote_and_no_word_of_ours(words: str, reason: str) -> None:
    printed = f"remote: Pay no heed\nremote: AKIAQUOTEDBYATEST0\n{words}"

    found = from_output(printed.encode(), pushing=True, host="git.example")

    assert found.reason == reason
    ours = without_quotes(found.message)
    assert ours
    assert "git.example" in ours or reason in ("RefMoved", "InternalError")
    assert not [word for word in ("heed", "AKIA", "remote:") if word in ours]
    assert "AKIAQUOTEDBYATEST0" in quoted(found.message)


def test_that_the_server_lacks_the_history_of_a_push_is_said() -> None:
    words = b"!\t0123:refs/x\t[remote rejected] (shallow update not allowed)\nDone\n"

    ours = without_quotes(from_output(words, pushing=True, host="git.example").message)

    assert ours.startswith("the git server at 'git.example' lacks history that this push is on")


def test_a_server_that_has_not_answered_in_time_is_named() -> None:
    error = unreachable("git.example.com", "git ls-remote took over 60 s")

    assert error.reason == "RepositoryUnreachable"
    assert error.message.startswith(
        "the git server at 'git.example.com' cannot be used: it has not answered in time"
    )


@pytest.mark.parametrize(
    "word",
    ["Remote branch ", "repository '", "Permission to x", "fatal: x@y ", "!\t:refs/heads/refs/x"],
)
def test_words_of_half_a_megabyte_take_no_longer_than_their_length(word: str) -> None:
    began = time.process_time()
    found = from_output((word * (500_000 // len(word))).encode(), pushing=True)

    assert time.process_time() - began < 5
    assert len(found.message) <= 1000
