"""Wheels of a release: what is in them, and that they are the same whoever makes them."""

from __future__ import annotations

import os
import shutil
import zipfile
from pathlib import Path

import pytest

from release import wheels
from release.errors import ReleaseError
from release.sources import Sources
from tests.unit.docs.pages import ROOT

EPOCH = 1_700_000_000


def test_wheels_have_the_same_bytes_whoever_makes_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = Sources(ROOT).files(*wheels.SOURCES)
    other, first, second = (tmp_path / name for name in ("other", "first", "second"))
    for name in files:
        (other / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, other / name)
        (other / name).chmod(0o660)
        os.utime(other / name, (EPOCH + 1_000, EPOCH + 1_000))
    (other / "operator/bernstein/left.py").write_text("what git does not know")
    for folder in (first, second):
        folder.mkdir()

    ours = wheels.build(ROOT, files, first, EPOCH)
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    before = os.umask(0o077)
    try:
        theirs = wheels.build(other, files, second, EPOCH)
    finally:
        os.umask(before)

    assert [path.name.partition("-")[0] for path in ours] == ["bernstein", "bernstein_gates"]
    assert [path.name for path in ours] == [path.name for path in theirs]
    assert [path.read_bytes() for path in ours] == [path.read_bytes() for path in theirs]
    with zipfile.ZipFile(ours[0]) as wheel:
        names = wheel.namelist()
    assert "bernstein/api/prices/prices.json" in names
    assert any(name.endswith("/licenses/LICENSE") for name in names)
    assert "bernstein/left.py" not in names


def test_what_pip_says_is_told(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'bernstein'\n")

    with pytest.raises(ReleaseError, match=r"(?s)WheelFailed.*version"):
        wheels.build(tmp_path, ["pyproject.toml"], tmp_path, EPOCH)
