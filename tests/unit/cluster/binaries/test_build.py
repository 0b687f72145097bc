from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.cluster.binaries import build
from tests.cluster.binaries.build import (
    build_flags,
    build_folder,
    build_key,
    ensure_binaries,
    tools_folder,
)
from tests.cluster.errors import ClusterError
from tests.cluster.machine.paths import GO_MODULE
from tests.unit.cluster.conftest import install


@pytest.fixture
def module(tmp_path: Path) -> Path:
    copy = tmp_path / "module"
    shutil.copytree(GO_MODULE, copy)
    return copy


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
    assert f"k8s.io/kubernetes {build.KUBERNETES_VERSION}\n" in module
    assert f"helm.sh/helm/v3 {build.HELM_VERSION}" in module


def test_machines_own_tools_spare_a_build(only_here: Path) -> None:
    for name in ("go", "kubectl", "helm"):
        install(only_here, name, "go1.25.0")
    folder = tools_folder()
    assert {path.name: path.readlink() for path in folder.iterdir()} == {
        "kubectl": only_here / "kubectl",
        "helm": only_here / "helm",
    }


def test_tools_are_the_machines_also_for_who_has_the_links_in_front(
    only_here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("kubectl", "helm"):
        install(only_here, name)
    folder = tools_folder()
    monkeypatch.setenv("PATH", f"{folder}:{only_here}")
    assert tools_folder() == folder
    assert (folder / "helm").resolve() == only_here / "helm"


def test_tools_of_a_finished_build_are_preferred(only_here: Path) -> None:
    for name in ("kubectl", "helm"):
        install(only_here, name)
    tools = build_folder() / "tools"
    tools.mkdir(parents=True)
    assert tools_folder() == tools


def test_missing_tools_that_cannot_be_built_are_named(only_here: Path) -> None:
    install(only_here, "kubectl")
    with pytest.raises(ClusterError, match="ToolsMissing: helm cannot be found") as caught:
        tools_folder()
    assert caught.value.remedy.startswith("install helm; or install Go 1.25")


def test_failed_build_is_reported_with_the_end_of_its_log(only_here: Path) -> None:
    install(only_here, "go", "go1.25.0")
    with (only_here / "go").open("a") as script:
        script.write("echo no such module >&2\ntest $1 = env\n")
    with pytest.raises(ClusterError, match=r"BuildFailed: (.|\n)*no such module"):
        tools_folder()


def test_build_is_complete_or_absent(only_here: Path) -> None:
    install(only_here, "go", "go1.25.0")
    built = ensure_binaries()
    assert built.folder == build_folder()
    assert built.path("kube-apiserver").readlink() == Path("kube")
    assert sorted(path.name for path in built.tools.iterdir()) == ["helm", "kubectl"]
