"""What is installed and built follows from who has the cluster in hand."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests import setup
from tests.cluster import kind
from tests.cluster.__main__ import main
from tests.cluster.binaries.build import build_folder
from tests.cluster.machine.packages import CONTROL_PLANE, IMAGES, NODE
from tests.cluster.machine.paths import REPOSITORY
from tests.unit.cluster.conftest import install


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the packages that set-up wants."""
    wanted: list[str] = []

    def ensure(needed: Mapping[str, str]) -> None:
        wanted.extend(needed.values())

    monkeypatch.setattr(setup, "ensure_packages", ensure)
    return wanted


def test_packages_of_a_node_are_left_out_where_kind_runs(
    asked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kind, "usable", lambda: True)
    assert setup.main() == 0
    own = {*NODE.values(), *IMAGES.values()} - set(CONTROL_PLANE.values())
    assert own.isdisjoint(asked)
    assert {*CONTROL_PLANE.values(), "git"} <= set(asked)


def test_packages_of_a_node_are_installed_where_kind_does_not_run(
    asked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kind, "usable", lambda: False)
    assert setup.main() == 0
    assert {*NODE.values(), *IMAGES.values(), "git"} <= set(asked)


def test_nothing_is_built_where_kind_runs_and_the_tools_are_there(
    only_here: Path,
    cache: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(kind, "usable", lambda: True)
    for name in ("kubectl", "helm"):
        install(only_here, name)
    assert main(["build"]) == 0
    assert capsys.readouterr().out == f"{cache}/tools\n"
    assert not build_folder().exists()


def test_missing_tools_are_named_where_kind_runs(
    only_here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(kind, "usable", lambda: True)
    assert main(["build"]) == 1
    assert "ToolsMissing: kubectl and helm cannot be found" in capsys.readouterr().err


def test_control_plane_is_built_also_where_kind_runs(
    only_here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(kind, "usable", lambda: True)
    for name in (*CONTROL_PLANE, "kubectl", "helm"):
        install(only_here, name)
    install(only_here, "go", "go1.25.0")
    assert main(["build", "--provider", "control-plane"]) == 0
    assert capsys.readouterr().out == f"{build_folder()}\n"


def test_clean_cache_removes_every_cache_that_tools_leave_in_the_checkout() -> None:
    ignored = (REPOSITORY / ".gitignore").read_text().split()
    caches = {entry.rstrip("/") for entry in ignored if entry.startswith(".")}
    makefile = (REPOSITORY / "Makefile").read_text()
    _, _, recipe = makefile.partition("\nclean-cache:")
    assert caches
    assert caches <= set(recipe.split())
