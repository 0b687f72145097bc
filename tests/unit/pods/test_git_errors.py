"""What becomes of git's words: a reason, a sentence of ours, and themselves as a quote."""

from __future__ import annotations

import pytest

from bernstein.core.sanitise import quoted, without_quotes
from bernstein.pods.git.errors import from_output

FATAL = "fatal: unable to access 'https://git.example/app.git/': "
CAUSES = {
    "Could not resolve host: git.example": "its name is not known here",
    "Failed to connect to git.example port 443 after 3 ms: Couldn't connect to server": (
        "nothing answers there"
    ),
    "SSL certificate problem: unable to get local issuer certificate": (
        "its certificate is not trusted"
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


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("! [remote rejected] x (pre-receive hook declined)", "BranchProtected"),
        ("! [remote rejected] x (no room)", "PushRejected"),
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
