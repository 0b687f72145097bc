"""A password that is renewed while a program is at work is the one that it uses next."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from bernstein.pods.git import client as git
from tests.programs.pods.conftest import Origin
from tests.programs.pods.git_server import USERS

REF = "refs/bernstein/01234567/task/s1"


def mounted(folder: Path, user: str, password: str) -> None:
    """As the kubelet changes the files of a Secret: all at once, by a link to another folder."""
    version = folder / f"..{len(list(folder.iterdir()))}"
    version.mkdir()
    (version / "username").write_text(user)
    (version / "password").write_text(password)
    (folder / "..new").symlink_to(version.name)
    (folder / "..new").rename(folder / "..data")
    for key in ("username", "password"):
        if not (folder / key).is_symlink():
            (folder / key).symlink_to(f"..data/{key}")


def test_a_program_at_work_goes_on_with_the_password_that_was_renewed(
    tmp_path: Path, origin: Origin
) -> None:
    first = origin.commit({"a": "1"}, ref="refs/heads/main")
    folder = tmp_path / "secret"
    folder.mkdir()
    mounted(folder, "work", USERS["work"])
    git.init_bare(tmp_path / "own.git")
    remote = replace(origin.remote("work"), credential_dir=str(folder))
    repository = git.Git(tmp_path / "own.git", remote)
    repository.fetch(["refs/heads/main:refs/heads/main"])

    mounted(folder, "work", "ended")
    with pytest.raises(git.GitError) as refused:
        repository.push(REF, first, None)
    assert refused.value.reason == "CredentialRefused"
    assert origin.tip("main") == first

    mounted(folder, "work", USERS["work"])
    repository.push(REF, first, None)
    assert origin.tip(REF) == first
