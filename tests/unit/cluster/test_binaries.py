from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.cluster import binaries
from tests.cluster.binaries import build_flags, build_key, find_go, tools_folder
from tests.cluster.errors import ClusterError
from tests.cluster.paths import GO_MODULE


@pytest.fixture
def module(tmp_path: Path) -> Path:
    copy = tmp_path / "module"
    shutil.copytree(GO_MODULE, copy)
    return copy


@pytest.fixture
def only_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is the whole PATH; the usual place of Go counts no more."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setattr(binaries, "GO_USUAL_PLACE", str(tmp_path / "none"))
    return folder


def install(folder: Path, name: str, output: str = "") -> None:
    (folder / name).write_text(f"#!/bin/sh\necho {output}\n")
    (folder / name).chmod(0o755)


def test_checkouts_with_the_same_files_share_a_build(module: Path) -> None:
    assert build_key(module, build_flags()) == build_key(GO_MODULE, build_flags())


@pytest.mark.parametrize("file", ["go.mod", "go.sum", "cmd/kube/main.go", "cmd/probe/main.go"])
def test_changed_file_makes_another_build(module: Path, file: str) -> None:
    before = build_key(module, build_flags())
    with (module / file).open("a") as opened:
        opened.write("\n// changed\n")
    assert build_key(module, build_flags()) != before


def test_changed_flags_make_another_build(module: Path) -> None:
    assert build_key(module, build_flags()) != build_key(module, [*build_flags(), "-race"])


def test_module_builds_the_versions_that_the_flags_announce() -> None:
    module = (GO_MODULE / "go.mod").read_text()
    assert f"k8s.io/kubernetes {binaries.KUBERNETES_VERSION}\n" in module
    assert f"helm.sh/helm/v3 {binaries.HELM_VERSION}" in module


def test_missing_go_is_named_with_the_version_to_install(only_go: Path) -> None:
    with pytest.raises(ClusterError) as caught:
        find_go()
    assert caught.value.reason == "GoMissing"
    assert "1.25" in caught.value.remedy


def test_old_go_is_refused_by_its_version(only_go: Path) -> None:
    install(only_go, "go", "go1.19.8")
    with pytest.raises(ClusterError, match=r"GoTooOld: .* is Go 1\.19"):
        find_go()


@pytest.mark.parametrize("version", ["go1.25.0", "go1.26", "go2.0"])
def test_new_enough_go_is_found(only_go: Path, version: str) -> None:
    install(only_go, "go", version)
    assert find_go() == str(only_go / "go")


def test_newer_go_beside_the_first_one_is_taken(
    only_go: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(only_go, "go", "go1.19")
    install(tmp_path, "newer-go", "go1.26.1")
    monkeypatch.setattr(binaries, "GO_USUAL_PLACE", str(tmp_path / "newer-go"))
    assert find_go() == str(tmp_path / "newer-go")


def test_without_go_the_machines_own_tools_are_taken(only_go: Path) -> None:
    for name in ("kubectl", "helm"):
        install(only_go, name)
    folder = tools_folder()
    assert {path.name: path.readlink() for path in folder.iterdir()} == {
        "kubectl": only_go / "kubectl",
        "helm": only_go / "helm",
    }


def test_without_go_and_helm_the_missing_go_is_the_error(only_go: Path) -> None:
    install(only_go, "kubectl")
    with pytest.raises(ClusterError, match="GoMissing"):
        tools_folder()
