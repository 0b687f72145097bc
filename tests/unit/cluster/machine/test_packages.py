from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.cluster.errors import ClusterError
from tests.cluster.machine import packages
from tests.cluster.machine.packages import (
    cni_folder,
    development_python,
    ensure_packages,
    missing_packages,
    program,
)


def test_package_whose_program_exists_is_not_missing() -> None:
    assert missing_packages({"sh": "dash"}) == []


def test_missing_program_names_its_package_once() -> None:
    needed = {"no-such-a": "package-a", "no-such-b": "package-a", "sh": "dash"}
    assert missing_packages(needed) == ["package-a"]


def test_network_plugins_are_looked_for_in_their_own_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    needed = {"bridge": "containernetworking-plugins"}
    monkeypatch.setattr(packages, "CNI_FOLDERS", (tmp_path,))
    assert missing_packages(needed) == ["containernetworking-plugins"]
    with pytest.raises(ClusterError, match="ProgramMissing"):
        cni_folder()
    (tmp_path / "bridge").touch()
    assert missing_packages(needed) == []
    assert cni_folder() == tmp_path


def test_nothing_is_installed_without_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(ClusterError) as caught:
        ensure_packages({"no-such-program": "no-such-package"})
    assert caught.value.reason == "PackagesMissing"
    assert caught.value.remedy.endswith("apt-get install --no-install-recommends no-such-package")


def test_complete_machine_is_left_alone_by_anyone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    ensure_packages({"sh": "dash"})


def test_missing_program_is_named_with_its_package() -> None:
    with pytest.raises(ClusterError, match="ProgramMissing: the program no-such-program"):
        program("no-such-program")


class FakeApt:
    """An apt-get that writes down its calls, and fails until its lists are updated."""

    def __init__(self, folder: Path, *, stale: bool) -> None:
        self.calls = folder / "calls"
        fail = f"[ -f {folder}/updated ] || exit 100" if stale else ":"
        (folder / "apt-get").write_text(
            f'#!/bin/sh\necho "$@" >> {self.calls}\n'
            f"case $1 in update) : > {folder}/updated;; install) {fail};; esac\n"
        )
        (folder / "apt-get").chmod(0o755)

    @property
    def verbs(self) -> list[str]:
        return [line.split()[0] for line in self.calls.read_text().splitlines()]


@pytest.mark.parametrize(
    ("stale", "verbs"), [(False, ["install"]), (True, ["install", "update", "install"])]
)
def test_missing_package_is_installed_and_old_lists_updated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stale: bool, verbs: list[str]
) -> None:
    apt = FakeApt(tmp_path, stale=stale)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    ensure_packages({"no-such-program": "some-package"})
    assert apt.verbs == verbs
    install = apt.calls.read_text().splitlines()[0]
    assert "--no-remove" in install
    assert install.endswith(" some-package")


def test_python_without_the_projects_packages_gives_way_to_the_environments(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert development_python() == sys.executable
    monkeypatch.setattr(packages, "PYTHON_PACKAGES", ("no_such_package",))
    monkeypatch.setattr(packages, "REPOSITORY", tmp_path)
    with pytest.raises(ClusterError, match="PythonPackagesMissing") as caught:
        development_python()
    assert "make venv" in caught.value.remedy
    own = tmp_path / ".venv" / "bin" / "python"
    own.parent.mkdir(parents=True)
    own.touch()
    assert development_python() == str(own)
