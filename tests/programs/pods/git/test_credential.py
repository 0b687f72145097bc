"""git's credential helper gives the secret to one repository only."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from bernstein.pods.git.credential import blanks, helper

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

    assert blanks(str(folder)) == told


def test_of_an_account_by_ssh_no_blanks_are_told(tmp_path: Path) -> None:
    (tmp_path / "ssh-privatekey").write_text("a key\n")

    assert blanks(str(tmp_path)) == ""
