"""The manifest for krew, and what the archive that it names starts."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from bernstein.cli.shell import program
from tests.unit.docs.pages import ROOT

TEMPLATE = ROOT / "packaging" / "krew" / "bernstein.yaml"
ADDRESS = "https://example.com/releases/v1"


@pytest.fixture
def made(tmp_path: Path) -> Path:
    """What is published."""
    wheel, folder = tmp_path / "bernstein-1-py3-none-any.whl", tmp_path / "made"
    wheel.write_bytes(b"a wheel")
    make(wheel, folder)
    return folder


def make(wheel: Path, folder: Path) -> None:
    """As the page on the CLI says."""
    call = [sys.executable, "-m", "release.krew", str(wheel), ADDRESS, str(folder)]
    subprocess.run(call, check=True, env={**os.environ, "PYTHONPATH": str(ROOT / "packaging")})


def manifest(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(path.read_text())
    return found


def test_the_manifest_is_of_the_programs_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]

    found = manifest(TEMPLATE)
    assert found["metadata"]["name"] == program.NAME
    assert found["spec"]["version"] == f"v{project['version']}"
    assert {program.PLUGIN, program.COMPLETES_PLUGIN} <= project["scripts"].keys()


def test_the_template_names_no_address() -> None:
    spec = manifest(TEMPLATE)["spec"]

    assert "://" not in TEMPLATE.read_text()
    assert len(spec["shortDescription"]) <= 50
    assert not spec["shortDescription"].endswith(".")


def test_what_is_made_names_the_archive_and_its_sum(made: Path) -> None:
    (platform,) = manifest(made / "krew-bernstein.yaml")["spec"]["platforms"]

    packed = (made / "kubectl-bernstein.tar.gz").read_bytes()
    assert platform["uri"] == f"{ADDRESS}/kubectl-bernstein.tar.gz"
    assert platform["sha256"] == hashlib.sha256(packed).hexdigest()
    assert platform["bin"] == program.PLUGIN
    values = {each["key"]: each["values"] for each in platform["selector"]["matchExpressions"]}
    assert values == {"os": ["darwin", "linux"], "arch": ["amd64", "arm64"]}


def test_the_same_wheel_makes_the_same_archive(made: Path, tmp_path: Path) -> None:
    wheel = tmp_path / "bernstein-1-py3-none-any.whl"
    again = tmp_path / "again"

    os.utime(wheel, (0, 0))
    make(wheel, again)

    for name in ("kubectl-bernstein.tar.gz", "krew-bernstein.yaml"):
        assert (again / name).read_bytes() == (made / name).read_bytes()


@pytest.fixture
def plugin(made: Path, tmp_path: Path) -> Path:
    """The plugin as krew installs it: a link to what it unpacked."""
    store, link = tmp_path / "store", tmp_path / "krew" / program.PLUGIN
    with tarfile.open(made / "kubectl-bernstein.tar.gz") as tar:
        tar.extractall(store, filter="data")
    link.parent.mkdir()
    link.symlink_to(store / program.PLUGIN)
    return link


def call(plugin: Path, path: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(plugin), "status", "-n", "team a"],
        env={"PATH": f"{path}:/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_plugin_starts_the_installed_program(plugin: Path, tmp_path: Path) -> None:
    tools, bin_folder = tmp_path / "tools", tmp_path / "bin"
    tools.mkdir()
    bin_folder.mkdir()
    for name in (program.NAME, program.PLUGIN):
        (tools / name).write_text('#!/bin/sh\nprintf "%s|" "${0##*/}" "$@"\n')
        (tools / name).chmod(0o755)
    (bin_folder / program.NAME).symlink_to(tools / program.NAME)

    assert call(plugin, str(bin_folder)).stdout == "kubectl-bernstein|status|-n|team a|"


def test_without_the_program_it_says_how_to_install_it(plugin: Path, tmp_path: Path) -> None:
    done = call(plugin, str(tmp_path))

    assert done.returncode == 1
    wheel = plugin.resolve().parent / "bernstein-1-py3-none-any.whl"
    assert f"uv tool install '{wheel}'" in done.stderr
