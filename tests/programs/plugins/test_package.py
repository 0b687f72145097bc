"""The package `bernstein-gates`, as an image installs it: built without a network."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

import bernstein_gates
from bernstein_gates import GatePlugin, GateResult

pytestmark = pytest.mark.verification

SOURCE = Path(bernstein_gates.__file__).parent
ROOT = SOURCE.parents[1]


def test_it_is_built_to_a_wheel_that_holds_it_alone_and_needs_nothing(tmp_path: Path) -> None:
    copied = tmp_path / "bernstein_gates"
    shutil.copytree(SOURCE, copied, ignore=shutil.ignore_patterns("__pycache__"))
    build = [sys.executable, "-m", "pip", "wheel", "--no-index", "--no-deps"]
    flags = ["--no-build-isolation", "--disable-pip-version-check", "-q", "-w", str(tmp_path)]

    subprocess.run([*build, *flags, str(copied)], check=True)

    (wheel,) = tmp_path.glob("bernstein_gates-*.whl")
    held = zipfile.ZipFile(wheel)
    names = [name for name in held.namelist() if "dist-info" not in name]
    assert sorted(names) == ["bernstein_gates/__init__.py", "bernstein_gates/py.typed"]
    (metadata,) = (name for name in held.namelist() if name.endswith("/METADATA"))
    assert b"Requires-Dist" not in held.read(metadata)


def test_it_has_the_version_of_the_rest() -> None:
    versions = {
        tomllib.loads((folder / "pyproject.toml").read_text())["project"]["version"]
        for folder in (ROOT, SOURCE)
    }

    assert len(versions) == 1


def test_a_class_that_leaves_something_out_cannot_be_made() -> None:
    class Half(GatePlugin):
        @property
        def name(self) -> str:
            return "half"

    with pytest.raises(TypeError, match="abstract"):
        Half()  # type: ignore[abstract]


def test_a_result_needs_no_more_than_what_is_read() -> None:
    result = GateResult("a", "pass", True, False)

    assert (result.cached, result.duration_ms, result.details) == (False, 0, "")
