"""What is looked at in a folder before a model is told of it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from bernstein.cli.errors import CliError
from bernstein.cli.local.repository import look


def write(folder: Path, **files: str) -> None:
    for name, text in files.items():
        path = folder / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", "-C", str(folder), *arguments], check=True, capture_output=True)


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    git(tmp_path, "init", "--quiet")
    write(tmp_path, Makefile="test:\n", src__main="x", notes="mine")
    (tmp_path / "README.md").write_text("# It\n")
    git(tmp_path, "add", "Makefile", "README.md", "src")
    return tmp_path


async def test_of_a_clone_only_what_git_knows_is_seen(clone: Path) -> None:
    seen = await look(clone)

    assert seen.paths == ("Makefile", "README.md", "src/main")
    assert seen.texts == {"Makefile": "test:\n", "README.md": "# It\n"}
    assert seen.all_of_it


async def test_of_a_folder_within_a_clone_what_is_below_it_is_seen(clone: Path) -> None:
    assert (await look(clone / "src")).paths == ("main",)


async def test_links_and_other_repositories_are_neither_listed_nor_read(clone: Path) -> None:
    (clone / "secret").write_text("hidden")
    (clone / "README.md").unlink()
    (clone / "README.md").symlink_to("secret")
    (clone / "go.mod").symlink_to("secret")
    git(clone, "add", "go.mod")
    sha = "1" * 40
    git(clone, "update-index", "--add", "--cacheinfo", f"160000,{sha},module")

    seen = await look(clone)

    assert seen.paths == ("Makefile", "README.md", "src/main")
    assert seen.texts == {"Makefile": "test:\n"}


async def test_where_git_fails_nothing_is_guessed(tmp_path: Path) -> None:
    (tmp_path / ".git").write_text("gitdir: /nowhere\n")
    write(tmp_path, key="hidden")

    with pytest.raises(CliError, match="git does not list the files") as failed:
        await look(tmp_path)
    assert failed.value.reason == "GitFailed"


async def test_a_folder_that_is_no_clone_is_walked_without_what_is_hidden_or_made(
    tmp_path: Path,
) -> None:
    write(tmp_path, a="1", b__c__d="2", node_modules__e="3")
    write(tmp_path, **{".hidden": "4", ".cache__f": "5", "go.mod": "module m\n"})
    (tmp_path / "away").symlink_to("/etc")
    (tmp_path / "link").symlink_to("a")

    seen = await look(tmp_path)

    assert seen.paths == ("a", "go.mod", "b/c/d")
    assert seen.texts == {"go.mod": "module m\n"}


async def test_of_a_huge_folder_a_part_is_seen(tmp_path: Path) -> None:
    for number in range(5001):
        (tmp_path / f"f{number}").touch()

    seen = await look(tmp_path)

    assert (len(seen.paths), seen.all_of_it) == (5000, False)


async def test_a_listing_without_end_is_left_after_its_bytes(
    clone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bernstein.cli.local.repository._LISTING_BYTES", 100)

    seen = await look(clone)

    assert (seen.paths, seen.all_of_it) == (("Makefile",), False)


async def test_what_is_no_text_or_no_file_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_bytes(b"a\0b")
    os.mkfifo(tmp_path / "Makefile")
    (tmp_path / "go.mod").write_bytes(b"caf\xe9" + b"x" * (1 << 20))

    seen = await look(tmp_path)

    assert [*seen.texts] == ["go.mod"]
    assert seen.texts["go.mod"].startswith("caf\ufffdx")
    assert len(seen.texts["go.mod"]) < 70_000


async def test_secrets_in_a_file_are_replaced(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text(
        "export API_TOKEN=hidden-one\nhttps://me:hidden-two@host.example/x\n"
    )

    seen = await look(tmp_path)

    assert "hidden" not in seen.texts["README.md"]
    assert "https://[redacted]@host.example/x" in seen.texts["README.md"]
