"""Images are built when they changed and only then."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.images import build, catalog, engine
from tests.images.catalog import Image

BUILDER = """#!/bin/sh
# Stands where the Docker client does: notes its arguments, writes what `save` would.
echo "$@" >>"{log}"
case $1 in
  build) cat >/dev/null ;;
  save) echo archive >"$3" ;;
esac
"""


@pytest.fixture
def calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two images on a machine whose Docker engine is a script; the file of its calls."""
    for name in ("one", "two"):
        folder = tmp_path / "repository/images" / name
        folder.mkdir(parents=True)
        (folder / "Dockerfile").write_text(f"FROM {name}")
    images = (Image("one", "images/one"), Image("two", "images/two"))
    log = tmp_path / "calls"
    client = tmp_path / "docker"
    client.write_text(BUILDER.format(log=log))
    client.chmod(0o755)

    @contextlib.contextmanager
    def own(_: Path) -> Iterator[engine.Engine]:
        yield engine.Engine((str(client),), "base")

    monkeypatch.setattr(catalog, "IMAGES", images)
    monkeypatch.setattr(catalog.files, "__defaults__", (tmp_path / "repository",))
    monkeypatch.setattr(catalog.digest, "__defaults__", (tmp_path / "repository",))
    monkeypatch.setattr(engine, "present", lambda _: None)
    monkeypatch.setattr(engine, "own_base", lambda: "base")
    monkeypatch.setattr(engine, "own", own)
    return log


def built(calls: Path) -> list[str]:
    """Images built since the last look."""
    lines = calls.read_text().splitlines() if calls.exists() else []
    calls.unlink(missing_ok=True)
    return [line.split("--tag ")[1].split()[0] for line in lines if line.startswith("build")]


def test_only_what_changed_is_built_and_saved(calls: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    first = build.build([], cache)
    assert built(calls) == ["one:dev", "two:dev"]
    assert first[0].tar != first[1].tar, "loading one would bring back an old state of the other"
    assert build.build([], cache) == first
    assert built(calls) == []
    (tmp_path / "repository/images/two/Dockerfile").write_text("FROM changed")
    second = build.build([], cache)
    assert built(calls) == ["two:dev"]
    assert second[0] == first[0]
    assert second[1].tar != first[1].tar
    assert {image.tar for image in second} == {str(p) for p in (cache / "archives").iterdir()}


def test_an_archive_that_is_gone_is_made_again(calls: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    (image,) = build.build(["one"], cache)
    assert built(calls) == ["one:dev"]
    Path(image.tar).unlink()
    build.build(["one"], cache)
    assert built(calls) == ["one:dev"]


def test_an_archive_that_no_image_needs_is_removed(calls: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    (old,) = build.build(["one"], cache)
    (tmp_path / "repository/images/one/Dockerfile").write_text("FROM changed")
    (new,) = build.build(["one"], cache)
    assert not Path(old.tar).exists()
    assert build.load(cache) == {"one": new}


def test_a_failed_build_shows_its_log_and_keeps_the_manifest(
    calls: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = tmp_path / "cache"
    (before,) = build.build(["one"], cache)
    (tmp_path / "docker").write_text("#!/bin/sh\necho no such package; exit 5\n")
    (tmp_path / "repository/images/one/Dockerfile").write_text("FROM changed")
    with pytest.raises(build.BuildError, match=r"ended with 5\n(.|\n)*no such package"):
        build.build(["one"], cache)
    assert build.load(cache) == {"one": before}
