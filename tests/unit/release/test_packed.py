"""What is packed for a release says nothing of the machine, and has one form everywhere."""

from __future__ import annotations

import gzip
import io
import tarfile
from pathlib import Path

from release import krew, packed
from tests.unit.docs.pages import ROOT

HEADER = bytes([0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 2, 255])
"""No name, no time, and a system that is unknown."""


def test_no_system_is_named() -> None:
    compressed = packed.gzipped(b"text")

    assert compressed.startswith(HEADER)
    assert gzip.decompress(compressed) == b"text"


def test_files_are_of_nobody_in_one_order_and_of_one_time() -> None:
    made = packed.tar({"b": b"1", "a": b"2"}, 1000, ["a"])

    assert made == packed.tar({"a": b"2", "b": b"1"}, 1000, ["a"])
    with tarfile.open(fileobj=io.BytesIO(made)) as tar:
        told = [(e.name, e.mode, e.mtime, e.uid, e.uname) for e in tar]
    assert told == [("a", 0o755, 1000, 0, ""), ("b", 0o644, 1000, 0, "")]


def test_the_plugin_of_kubectl_is_packed_so(tmp_path: Path) -> None:
    wheel = tmp_path / "bernstein-1.whl"
    wheel.write_bytes(b"wheel")

    assert krew.archive(ROOT, wheel).startswith(HEADER)


def test_without_an_address_there_is_no_manifest_for_krew(tmp_path: Path) -> None:
    wheel = tmp_path / "bernstein-1.whl"
    wheel.write_bytes(b"wheel")

    krew.write(ROOT, wheel, "", tmp_path / "made")

    assert [path.name for path in (tmp_path / "made").iterdir()] == [krew.ARCHIVE]
