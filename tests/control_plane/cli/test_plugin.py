"""kubectl starts the program as its plugin, and completes names of objects in it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from bernstein.cli.shell import program
from bernstein.kube.client import Client
from tests.control_plane.cli.conftest import PACKAGE
from tests.control_plane.conftest import Tools
from tests.control_plane.objects import PLANS, valid

SCRIPTS = {program.PLUGIN: "main", program.COMPLETES_PLUGIN: "complete_plugin"}


@pytest.fixture
def plugins(tmp_path: Path) -> str:
    """The console scripts, as an installation puts them on the path."""
    for name, function in SCRIPTS.items():
        script = tmp_path / name
        script.write_text(
            f"#!{sys.executable}\nfrom bernstein.cli.main import {function}\n{function}()\n"
        )
        script.chmod(0o755)
    return str(tmp_path)


def kubectl(tools: Tools, plugins: str, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(tools.folder / "kubectl"), *words],
        env={
            **os.environ,
            "PATH": f"{plugins}:{os.environ['PATH']}",
            "PYTHONPATH": str(PACKAGE),
            "KUBECONFIG": str(tools.kubeconfig),
        },
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


async def test_it_is_the_same_program_with_kubectls_own_flags(
    tools: Tools, plugins: str, admin: Client, namespace: str
) -> None:
    await admin.create(PLANS, valid("Plan", namespace))

    shown = kubectl(tools, plugins, "bernstein", "status", "-n", namespace)
    missing = kubectl(tools, plugins, "bernstein", "status", "onne", "-n", namespace)

    assert shown.stdout.splitlines()[-1].split()[0] == "one"
    assert missing.returncode == 1
    assert "did you mean one?" in missing.stderr


async def test_kubectl_completes_names_of_objects(
    tools: Tools, plugins: str, admin: Client, namespace: str
) -> None:
    await admin.create(PLANS, valid("Plan", namespace))
    asked = ("__complete", "bernstein", "status", "-n", namespace)

    assert kubectl(tools, plugins, *asked, "o").stdout.split() == ["one", ":4"]
    assert kubectl(tools, plugins, *asked[:-1], namespace[:-1]).stdout.split() == [namespace, ":4"]
