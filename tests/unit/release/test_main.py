"""The command: what it leaves behind, and what it says where it fails."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from release import __main__ as command
from release import sums
from release.make import Release
from tests.images import build
from tests.unit.release.saved_image import save

Call = Callable[..., int]


@pytest.fixture
def call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Call:
    """The command without what takes long: it builds nothing, and makes no wheel and no chart."""
    saved = save(tmp_path / "saved.tar", [{"a": b"a"}])
    image = SimpleNamespace(name="bernstein", tar=str(saved))
    binaries = SimpleNamespace(tools=tmp_path)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1000")
    monkeypatch.setattr(command, "cache_root", lambda: tmp_path / "cache")
    monkeypatch.setattr(command, "ensure_binaries", lambda: binaries)
    monkeypatch.setattr(build, "build", lambda _: [image])
    for part in ("wheels", "chart"):
        monkeypatch.setattr(Release, part, lambda *_: None)
    monkeypatch.setattr("release.sources.Sources.refuse_unknown", lambda _: None)

    def run(*arguments: str) -> int:
        monkeypatch.setattr(sys, "argv", ["release", str(tmp_path / "dist"), *arguments])
        return command.main()

    return run


def test_a_whole_release_has_sums_and_keeps_only_its_own_layers(call: Call, tmp_path: Path) -> None:
    kept = tmp_path / "cache/release"
    kept.mkdir(parents=True)
    (kept / "other.json").write_text("{}")

    assert call() == 0
    assert sums.check(tmp_path / "dist")
    assert not (kept / "other.json").exists()


def test_some_images_are_no_whole_release(
    call: Call, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = tmp_path / "cache/release"
    kept.mkdir(parents=True)
    (kept / "other.json").write_text("{}")

    assert call("--image", "bernstein") == 0
    assert not (tmp_path / "dist" / sums.NAME).exists()
    assert (kept / "other.json").exists()
    assert "no whole release" in capsys.readouterr().err


@pytest.mark.parametrize(
    "error",
    [
        OSError(28, "No space left on device"),
        subprocess.CalledProcessError(1, ["go", "list"], stderr="No space left on device"),
    ],
)
def test_what_fails_is_told_in_one_sentence(
    call: Call,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    error: Exception,
) -> None:
    def fails(_: object) -> None:
        raise error

    monkeypatch.setattr(build, "build", fails)

    assert call() == 1
    told = capsys.readouterr().err
    assert "error: " in told
    assert "No space left on device" in told
