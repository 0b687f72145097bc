"""The image of the last release is another one, with that release's modules in place of its own."""

from __future__ import annotations

import json
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.local import image_archive
from tests.releases import Release, image

MODULES = image.MODULES
OURS = [(f"/{MODULES}/bernstein/new.py", b"NEW = 1\n"), ("/usr/local/lib/launcher", b"ELF")]


@pytest.fixture
def written(tmp_path: Path) -> Path:
    """An archive of the image `ours:last`."""
    base, to = tmp_path / "base.tar", tmp_path / "last.tar"
    image_archive.write(base, "ours:today", OURS, ["/usr/local/lib/launcher"])
    last = Release(tmp_path / "0.0.9")
    last.folder.mkdir()
    with zipfile.ZipFile(last.wheel, "w") as wheel:
        wheel.writestr("bernstein/old.py", "OLD = 1\n")
        wheel.writestr("bernstein-0.0.9.dist-info/METADATA", "Name: bernstein\n")
    image.write(base, last, "ours:last", to)
    return to


def test_it_is_found_by_its_own_name_alone(written: Path) -> None:
    assert list(image_archive.contents(written)) == ["docker.io/library/ours:last"]


def test_its_last_layer_hides_the_others_modules_and_has_the_wheels(written: Path) -> None:
    with tarfile.open(written) as tar:
        (listed,) = json.load(_file(tar, "manifest.json"))
        config = json.load(_file(tar, listed["Config"]))
        first, second = listed["Layers"]
        assert len(config["rootfs"]["diff_ids"]) == 2
        assert config["config"]["Entrypoint"] == ["/usr/local/lib/launcher"]
        with tarfile.open(fileobj=_file(tar, first)) as layer:
            assert layer.getnames() == [path.lstrip("/") for path, _ in OURS]
        with tarfile.open(fileobj=_file(tar, second)) as layer:
            names = layer.getnames()
            assert _file(layer, f"{MODULES}/bernstein/old.py").read() == b"OLD = 1\n"
    hidden = f"{MODULES}/bernstein/.wh..wh..opq"
    assert names.index(hidden) < names.index(f"{MODULES}/bernstein/old.py")
    assert any(name.startswith(f"{MODULES}/bernstein/__pycache__/old.") for name in names)


def _file(tar: tarfile.TarFile, name: str) -> Any:
    found = tar.extractfile(name)
    assert found is not None
    return found
