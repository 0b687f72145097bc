"""Work that holds a secret: it stays in the pod."""

from __future__ import annotations

import base64
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from bernstein.checks.content.rules import ALLOWED_PREFIXES
from bernstein.checks.reading import ChangedFile
from bernstein.pods.errors import PodError
from bernstein.pods.git import contents, leaks
from bernstein.pods.git.client import Git
from bernstein.pods.git.trees import ContentChange
from tests.background import wait_for
from tests.gitea import ssh_key
from tests.programs.pods.conftest import Origin
from tests.programs.pods.programs.pusher.session import REF, Session, checked_out
from tests.unit.checks.content.test_secret_tokens import KEYS, TOKENS

pytestmark = pytest.mark.verification

TOKEN = TOKENS["Anthropic"]
KEY = KEYS["a carriage return"]
CARD = "4111 1111 1111 1111"
WAYS: dict[str, dict[str, bytes | str]] = {
    "a new file": {"new.py": f"a = 1\nkey = '{TOKEN}'\n"},
    "a new line of an old file": {"a.py": f"aa\n{TOKEN}\n"},
    "a private key": {"key.pem": f"{KEY}\n"},
    "no text": {"data.bin": b"\0\1\2" + TOKEN.encode() + b"\0\xff"},
    "UTF-16": {"data.txt": TOKEN.encode("utf-16-le")},
    "a link": {"link": f"->/tmp/{TOKEN}"},
    "a name": {f"sub/{TOKEN}": ""},
}


def lies_on(server: Path, text: str) -> bool:
    """Whether any object that the server has holds the text."""
    repository = Git(server)
    listing = repository.text("cat-file", "--batch-all-objects", "--batch-check=%(objectname)")
    return any(text.encode() in repository.run("cat-file", "-p", i) for i in listing.split())


def nobody_looks(_: leaks.Leaks, _base: str, _sha: str) -> None:
    """In place of what refuses commits."""


@pytest.mark.parametrize("looked_for", [False, True])
@pytest.mark.parametrize("files", WAYS.values(), ids=WAYS)
def test_work_with_a_secret_is_pushed_only_where_nobody_looks(
    session: Session,
    files: dict[str, bytes | str],
    looked_for: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if not looked_for:
        monkeypatch.setattr(leaks.Leaks, "refuse", nobody_looks)
    session.start()
    session.record(files, final=True)
    if not looked_for:
        assert session.result().sha == session.tip()
        return
    failure = session.failure()
    assert failure.reason == "SecretFound"
    assert session.tip() is None
    assert not lies_on(session.origin.path, TOKEN[20:60])


def test_it_is_told_where_it_is_and_of_which_kind_but_not_what_it_is(session: Session) -> None:
    session.start()
    session.record({"new.py": f"a = 1\nkey = '{TOKEN}'\n", TOKEN: "", "b.pem": KEY}, final=True)
    message = session.failure().message
    assert "new.py:2 access token" in message
    assert "b.pem:1 private key" in message
    assert "*** (its name)" in message
    assert "begins with one of FAKE" in message
    assert TOKEN[12:40] not in message
    assert "\n" not in message


def test_many_secrets_are_counted(session: Session) -> None:
    session.start()
    session.record({f"{i:02}.py": f"{TOKEN}\n" for i in range(40)}, final=True)
    assert "02.py:1 access token and 37 more" in session.failure().message


def test_a_checkpoint_with_a_secret_never_gets_out_but_the_work_without_it_does(
    session: Session,
) -> None:
    session.start()
    first = session.record({"a.py": "1\n"})
    wait_for(lambda: session.tip() == first.sha)
    session.record({".env": f"KEY={TOKEN}\n", "a.py": "2\n"})
    (session.volumes.worktree / ".env").unlink()
    last = session.record({"a.py": "3\n"}, final=True)
    assert session.result().sha == session.tip() == last.sha
    assert not lies_on(session.origin.path, TOKEN)


def test_the_checkpoint_before_stays_where_it_is(session: Session) -> None:
    session.start()
    first = session.record({"a.py": "1\n"})
    wait_for(lambda: session.tip() == first.sha)
    session.record({"a.py": f"{TOKEN}\n"})
    session.record({}, final=True)
    assert session.failure().reason == "SecretFound"
    assert session.tip() == first.sha


def test_what_the_server_has_already_is_not_told(origin: Origin, tmp_path: Path) -> None:
    origin.commit({"old.py": f"{TOKEN}\nx\n", "key.pem": KEY}, ref="refs/heads/main")
    session = Session(tmp_path / "pod", origin, checked_out(origin, tmp_path / "checkout"))
    session.start()
    tree = session.volumes.worktree
    (tree / "key.pem").rename(tree / "moved.pem")
    last = session.record({"old.py": f"{TOKEN}\ny\n"}, final=True)
    assert session.result().sha == session.tip() == last.sha


@pytest.mark.parametrize("prefix", ALLOWED_PREFIXES)
def test_made_up_values_are_pushed_as_the_gate_lets_them_through(
    session: Session, prefix: str
) -> None:
    session.start()
    session.record({"a.py": f"key = '{prefix}{TOKEN}'\n"}, final=True)
    assert session.result().final


def test_data_of_people_is_for_the_gate_alone(session: Session) -> None:
    session.start()
    session.record({"a.py": f"card = '{CARD}'\n"}, final=True)
    assert session.result().final


@pytest.mark.parametrize("form", ["as it is", "in a header", "a name"])
def test_the_account_that_pushes_stays_secret_whatever_its_form_is(
    session: Session, form: str
) -> None:
    account = session.volumes.root / "account"
    account.mkdir()
    given = Path(session.config.remote.credential_dir or "")
    name = (given / "username").read_text().strip()
    (account / "username").write_text(f"{name}\n")
    (account / "password").write_text("correct horse\n")
    header = base64.b64encode(f"{name}:correct horse".encode()).decode()
    path, content = {
        "as it is": ("a.py", "x = 'correct horse'\n"),
        "in a header": ("a.py", f"Authorization: Basic {header}\n"),
        "a name": ("correct horse", ""),
    }[form]
    remote = replace(session.config.remote, credential_dir=str(account))
    session.start(remote=remote)
    session.record({path: content}, final=True)
    failure = session.failure()
    assert failure.reason == "SecretFound"
    assert "password of the account that pushes" in failure.message
    assert "correct horse" not in failure.message


@pytest.mark.parametrize("number", [2, -2])
def test_a_line_of_the_key_that_pushes_by_ssh_stays_secret(session: Session, number: int) -> None:
    account = session.volumes.root / "account"
    account.mkdir()
    ssh_key(account / "ssh-privatekey")
    line = (account / "ssh-privatekey").read_text().splitlines()[number]
    remote = replace(session.config.remote, credential_dir=str(account))
    session.start(remote=remote)
    session.record({"a.py": f"x = '{line}'\n"}, final=True)
    failure = session.failure()
    assert failure.reason == "SecretFound"
    assert "key of the account that pushes" in failure.message
    assert line not in failure.message


# --- bounds -------------------------------------------------------------------------------------


def test_what_is_too_much_to_look_through_is_not_pushed(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leaks, "ADDED_BYTES", 1000)
    session.start()
    session.record({"a.py": "x\n" * 1001}, final=True)
    failure = session.failure()
    assert failure.reason == "SnapshotTooLarge"
    assert "over 1000 bytes" in failure.message
    assert session.tip() is None


def test_what_takes_too_long_to_look_through_is_not_pushed(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leaks, "SECONDS", -1.0)
    session.start()
    session.record({"a.py": "x\n"}, final=True)
    failure = session.failure()
    assert failure.reason == "SnapshotTooLarge"
    assert "look through" in failure.message
    assert session.tip() is None


BROAD: dict[str, bytes | str] = {
    f"{of}.txt": "".join(f"{of} {n:07} of what is made up here\n" for n in range(700_000))
    for of in ("one", "two")
}
"""50 MB of text, in files of which none is too large."""


@pytest.mark.parametrize("looked_for", [False, True])
def test_a_change_of_50_mb_is_pushed_only_where_nobody_looks(
    session: Session, monkeypatch: pytest.MonkeyPatch, looked_for: bool
) -> None:
    assert sum(map(len, BROAD.values())) > 50_000_000
    monkeypatch.setattr(leaks, "ADDED_BYTES", 1_000_000)  # or it takes ten seconds to find out
    if not looked_for:
        monkeypatch.setattr(leaks.Leaks, "refuse", nobody_looks)
    session.start()
    session.record(BROAD, final=True)
    if not looked_for:
        assert session.result().final
        listed = session.origin.git("ls-tree", "--format=%(objectsize)", REF, *BROAD)
        assert sum(map(int, listed.split())) > 50_000_000
        return
    assert session.failure().reason == "SnapshotTooLarge"
    assert session.tip() is None


def test_one_file_takes_no_longer_than_all_may(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    hostile = b"://" * 10_000_000
    monkeypatch.setattr(leaks, "SECONDS", 1.0)
    began = time.monotonic()
    session.start()
    session.record({"a.txt": hostile}, final=True)
    assert session.failure().reason == "SnapshotTooLarge"
    assert time.monotonic() - began < 30.0


def test_a_file_is_looked_through_once_however_often_it_is_pushed(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    really = contents.changed_files

    def noting(repository: Git, changes: Sequence[ContentChange]) -> Iterator[ChangedFile]:
        read.extend(change.path.decode() for change in changes)
        return really(repository, changes)

    monkeypatch.setattr(contents, "changed_files", noting)
    session.start()
    first = session.record({"large.py": "1\n"})
    wait_for(lambda: session.tip() == first.sha)
    second = session.record({"small.py": "2\n"})
    wait_for(lambda: session.tip() == second.sha)
    session.record({"small.py": "3\n"}, final=True)
    assert session.result().final
    assert read == ["large.py", "small.py", "small.py"]


def test_a_refused_record_is_not_looked_through_again_and_again(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []
    really = leaks.Leaks.refuse

    def noting(self: leaks.Leaks, base: str, sha: str) -> None:
        seen.append(sha)
        really(self, base, sha)

    monkeypatch.setattr(leaks.Leaks, "refuse", noting)
    refused = session.record({"a.py": f"{TOKEN}\n"})
    session.start(final_wait=3.0)
    wait_for(lambda: bool(seen))
    session.ended.set()
    assert isinstance(session.wait(), PodError)
    assert seen == [refused.sha]
