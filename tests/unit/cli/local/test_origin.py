"""The address of a clone's repository, as a Project may have it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from bernstein.cli.local import origin
from bernstein.cli.local.origin import NoAddress, address


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ("https://git.example.com/a/b.git", "https://git.example.com/a/b.git"),
        ("https://me:geheim@git.example.com:8443/a/b.git/", "https://git.example.com:8443/a/b.git"),
        ("https://token@git.example.com/a?token=geheim#x", "https://git.example.com/a"),
        ("git@git.example.com:a/b.git", "ssh://git@git.example.com/a/b.git"),
        ("git.example.com:/a/b.git\n", "ssh://git.example.com/a/b.git"),
        ("ssh://git:geheim@git.example.com:2222/a/b", "ssh://git@git.example.com:2222/a/b"),
    ],
)
def test_it_is_made_into_one_without_a_secret(given: str, found: str) -> None:
    assert address(given) == found


@pytest.mark.parametrize(
    "given",
    [
        *("http://me:geheim@git.example.com/a", "git://git.example.com/a", "file:///geheim"),
        *("/geheim/a", "../geheim", "~/geheim", "geheim", "", "-oProxyCommand=geheim:x"),
        *("https://git.example.com/a b", "https://git.example.com/\x1b[31m", "ssh://-x/geheim"),
        f"https://git.example.com/{'a' * 3000}",
    ],
)
def test_what_is_none_is_refused_and_not_repeated(given: str) -> None:
    with pytest.raises(NoAddress) as caught:
        address(given)

    assert "geheim" not in str(caught.value)


def git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", "-C", str(folder), *arguments], check=True, capture_output=True)


async def test_the_clone_says_it(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet")
    assert (await origin.url(tmp_path), await origin.branch(tmp_path)) == (None, None)
    git(tmp_path, "remote", "add", "origin", "https://git.example.com/a.git")
    git(tmp_path, "symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/release/1")

    assert await origin.url(tmp_path) == "https://git.example.com/a.git"
    assert await origin.branch(tmp_path) == "release/1"


async def test_a_folder_that_is_no_clone_says_nothing(tmp_path: Path) -> None:
    assert await origin.url(tmp_path / "none") is None


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://Git.Example.com:8443/a", "git.example.com"),
        ("ssh://git@git.example.com:22/a", "git.example.com"),
    ],
)
def test_its_host(url: str, host: str) -> None:
    assert origin.host(url) == host
