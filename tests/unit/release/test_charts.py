"""What is compressed for a release says nothing of the machine."""

from __future__ import annotations

import gzip
import runpy
from pathlib import Path

from release.charts import gzipped
from tests.unit.docs.pages import ROOT

HEADER = bytes([0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 2, 255])
"""No name, no time, and a system that is unknown."""


def test_no_system_is_named_in_a_chart() -> None:
    packed = gzipped(b"text")

    assert packed.startswith(HEADER)
    assert gzip.decompress(packed) == b"text"


def test_no_system_is_named_in_the_plugin_of_kubectl(tmp_path: Path) -> None:
    wheel = tmp_path / "bernstein-1.whl"
    wheel.write_bytes(b"wheel")

    packed = runpy.run_path(str(ROOT / "packaging/krew/make.py"))["archive"](wheel)

    assert packed.startswith(HEADER)
