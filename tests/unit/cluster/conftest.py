"""A cache of its own for every test, and the values that most of them need."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cluster.binaries import go
from tests.cluster.binaries.build import Binaries
from tests.cluster.layout import CONTROL_PLANE_PORTS, NODE_PORTS, Layout
from tests.cluster.machine import packages


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The cache root below which no test meets the machine's clusters and builds."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "bernstein"


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    names = (*CONTROL_PLANE_PORTS, *NODE_PORTS)
    return Layout(
        id="local-0a1b2c3d",
        folder=tmp_path / "state",
        logs=tmp_path / "logs",
        run=Path("/run/bernstein/local-0a1b2c3d"),
        image_store=tmp_path / "store",
        slot=2,
        ports={name: 20000 + index for index, name in enumerate(names)},
        address="10.201.32.1",
    )


@pytest.fixture
def binaries(tmp_path: Path) -> Binaries:
    return Binaries(tmp_path / "build")


@pytest.fixture
def only_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is the whole PATH; the usual places of programs count no more."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "env").symlink_to("/usr/bin/env")
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setattr(packages, "SYSTEM_PATH", str(folder))
    monkeypatch.setattr(go, "GO_USUAL_PLACE", str(tmp_path / "none"))
    return folder


def install(folder: Path, name: str, output: str = "") -> None:
    """A program that prints one line."""
    (folder / name).write_text(f"#!/bin/sh\necho {output}\n")
    (folder / name).chmod(0o755)
