"""Which Go builds: the machine's own, else one in a container."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.cluster.binaries import go
from tests.cluster.binaries.go import GO_IMAGE, contained_go, find_go, toolchain
from tests.cluster.errors import ClusterError
from tests.cluster.machine.paths import GO_MODULE
from tests.unit.cluster.conftest import install


def test_missing_go_is_named_with_the_version_to_install(only_here: Path) -> None:
    with pytest.raises(ClusterError) as caught:
        find_go()
    assert caught.value.reason == "GoMissing"
    assert "1.25" in caught.value.remedy


def test_old_go_is_refused_by_its_version(only_here: Path) -> None:
    install(only_here, "go", "go1.19.8")
    with pytest.raises(ClusterError, match=r"GoTooOld: .* is Go 1\.19"):
        find_go()


@pytest.mark.parametrize("version", ["go1.25.0", "go1.26", "go2.0"])
def test_new_enough_go_is_found(only_here: Path, version: str) -> None:
    install(only_here, "go", version)
    assert find_go() == str(only_here / "go")


def test_newer_go_beside_the_first_one_is_taken(
    only_here: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(only_here, "go", "go1.19")
    install(tmp_path, "newer-go", "go1.26.1")
    monkeypatch.setattr(go, "GO_USUAL_PLACE", str(tmp_path / "newer-go"))
    assert find_go() == str(tmp_path / "newer-go")


def test_variables_are_set_for_the_machines_go(only_here: Path, tmp_path: Path) -> None:
    install(only_here, "go", "go1.25.0")
    command = toolchain(tmp_path)({"CGO_ENABLED": "0"})
    assert command == ["env", "CGO_ENABLED=0", str(only_here / "go")]


def test_without_go_docker_lends_one(only_here: Path, tmp_path: Path) -> None:
    install(only_here, "docker")
    assert toolchain(tmp_path)({}) == contained_go(tmp_path, {})


def test_without_go_and_with_a_docker_that_cannot_pull_the_missing_go_is_the_error(
    only_here: Path, tmp_path: Path
) -> None:
    install(only_here, "docker")
    with (only_here / "docker").open("a") as script:
        script.write('test "$1" = info\n')
    with pytest.raises(ClusterError, match="GoMissing") as caught:
        toolchain(tmp_path)
    assert GO_IMAGE in caught.value.remedy


def test_contained_go_writes_as_the_caller_to_its_output_and_caches_alone(
    only_here: Path, cache: Path, tmp_path: Path
) -> None:
    install(only_here, "docker")
    command = contained_go(tmp_path, {"CGO_ENABLED": "0"})
    assert command[:2] == [str(only_here / "docker"), "run"]
    assert command[-2:] == [GO_IMAGE, "go"]
    assert f"{os.getuid()}:{os.getgid()}" in command
    mounts = [command[i + 1] for i, part in enumerate(command) if part == "--volume"]
    writable = [mount for mount in mounts if not mount.endswith(":ro")]
    assert writable == [f"{cache}/go:{cache}/go", f"{tmp_path}:{tmp_path}"]
    assert f"{GO_MODULE}:{GO_MODULE}:ro" in mounts
    settings = {command[i + 1] for i, part in enumerate(command) if part == "--env"}
    assert {"CGO_ENABLED=0", "GOFLAGS=-modcacherw", f"GOCACHE={cache}/go/build"} <= settings


def test_contained_go_takes_the_machines_way_to_modules(
    only_here: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(only_here, "docker")
    monkeypatch.setenv("GOPROXY", "direct")
    monkeypatch.delenv("GOSUMDB", raising=False)
    command = contained_go(tmp_path, {})
    assert "GOPROXY=direct" in command
    assert not any(part.startswith("GOSUMDB=") for part in command)
