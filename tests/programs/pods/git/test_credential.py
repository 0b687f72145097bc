"""git's credential helper gives the secret to one repository only."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from bernstein.pods.git.credential import helper, oddities

EXPECTED = {"protocol": "https", "host": "git.example.com:8443", "path": "team/it's $(id).git"}
WORK = "team/its work.git"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "a folder"
    path.mkdir()
    (path / "username").write_text("ada")
    (path / "password").write_text("s=e c\\tr*e't$HOME\n")
    return path


def answer(folder: Path, operation: str = "get", **changes: str) -> str:
    """The reply, run the way git runs it."""
    asked = EXPECTED | {"wwwauth[]": 'Basic realm="a"'} | changes
    request = "".join(f"{key}={value}\n" for key, value in asked.items()) + "\n"
    command = helper(str(folder), *EXPECTED.values(), WORK).removeprefix("!") + f" {operation}"
    done = subprocess.run(
        ["sh", "-c", command], input=request, capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    return done.stdout


@pytest.mark.parametrize("path", [EXPECTED["path"], WORK])
def test_answers_for_its_repositories(folder: Path, path: str) -> None:
    assert answer(folder, path=path) == "username=ada\npassword=s=e c\\tr*e't$HOME\n"


@pytest.mark.parametrize(
    "other",
    [
        {"protocol": "http"},
        {"host": "git.example.com"},
        {"host": "evil.example.com:8443"},
        {"path": "team/other.git"},
        {"path": EXPECTED["path"] + "/sub"},
        {"path": ""},
    ],
)
def test_says_nothing_for_any_other(folder: Path, other: dict[str, str]) -> None:
    assert answer(folder, **other) == ""


@pytest.mark.parametrize("operation", ["store", "erase"])
def test_only_answers_questions(folder: Path, operation: str) -> None:
    assert answer(folder, operation) == ""


def test_a_line_break_inside_a_secret_is_refused(folder: Path) -> None:
    (folder / "password").write_text("a\nhost=evil.example.com\n")
    assert answer(folder) == ""


@pytest.mark.parametrize(
    ("password", "told"),
    [
        (b"a b", ""),
        (b"a\r\n", ""),
        (b"a \r\n", "'password' in its Secret has spaces or tabs at an end"),
        (b"\ta", "'password' in its Secret has spaces or tabs at an end"),
    ],
)
def test_blanks_around_a_secret_are_told(folder: Path, password: bytes, told: str) -> None:
    (folder / "password").write_bytes(password)

    assert oddities(str(folder)) == told


@pytest.mark.parametrize("form", ["OpenSSH", "PEM"])
@pytest.mark.parametrize(
    ("phrase", "change", "told"),
    [
        ("", lambda key: key, ""),
        ("", lambda key: key.replace(b"\n", b"\r\n"), "has lines that end with a carriage return"),
        ("", lambda key: key.rstrip(), "does not end with a new line, as a key has to"),
        ("secret words", lambda key: key, "has a passphrase, which nobody is there to type"),
    ],
    ids=["right", "CRLF", "no end", "passphrase"],
)
def test_what_ssh_does_not_tell_of_a_key_is_told(
    tmp_path: Path, form: str, phrase: str, change: Callable[[bytes], bytes], told: str
) -> None:
    file = tmp_path / "ssh-privatekey"
    kind = ["-t", "ed25519"] if form == "OpenSSH" else ["-t", "rsa", "-m", "PEM"]
    command = ["ssh-keygen", "-q", *kind, "-N", phrase, "-C", "", "-f", str(file)]
    subprocess.run(command, check=True)
    file.write_bytes(change(file.read_bytes()))

    assert oddities(str(tmp_path)) == (f"'ssh-privatekey' in its Secret {told}" if told else "")


def test_of_what_is_no_key_nothing_is_told(tmp_path: Path) -> None:
    (tmp_path / "ssh-privatekey").write_text("no key at all\n")

    assert oddities(str(tmp_path)) == ""
