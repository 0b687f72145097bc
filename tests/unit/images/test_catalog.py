"""What decides that an image is built again."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from tests.images import catalog
from tests.images.catalog import IMAGES, ROOT, Image

IMAGE = Image("thing", "images/thing", ("lock.txt", "src"))
SHARED_LINE = "RUN apt-get update && apt-get install --yes --no-install-recommends ca-certificates"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in ("images/thing/Dockerfile", "lock.txt", "src/a.py", "src/sub/b.py", "other.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    return tmp_path


def test_the_context_is_the_folder_and_the_sources(root: Path) -> None:
    names = [name for name, _ in catalog.files(IMAGE, root)]
    assert names == ["images/thing/Dockerfile", "lock.txt", "src/a.py", "src/sub/b.py"]


def test_the_digest_is_stable(root: Path) -> None:
    before = catalog.digest(IMAGE, "base", root)
    (root / "other.txt").write_text("changed")
    (root / "src/__pycache__").mkdir()
    (root / "src/__pycache__/a.cpython-311.pyc").write_text("x")
    assert catalog.digest(IMAGE, "base", root) == before


@pytest.mark.parametrize("name", ["images/thing/Dockerfile", "lock.txt", "src/sub/b.py"])
def test_a_changed_file_changes_the_digest(root: Path, name: str) -> None:
    before = catalog.digest(IMAGE, "base", root)
    (root / name).write_text("changed")
    assert catalog.digest(IMAGE, "base", root) != before


def test_a_renamed_file_a_mode_and_another_base_change_the_digest(root: Path) -> None:
    digests = {catalog.digest(IMAGE, "base", root), catalog.digest(IMAGE, "other", root)}
    (root / "src/a.py").chmod(0o755)
    digests.add(catalog.digest(IMAGE, "base", root))
    (root / "src/a.py").rename(root / "src/c.py")
    digests.add(catalog.digest(IMAGE, "base", root))
    assert len(digests) == 4


def test_a_missing_source_is_named(root: Path) -> None:
    (root / "lock.txt").unlink()
    with pytest.raises(FileNotFoundError, match=r"lock\.txt"):
        catalog.digest(IMAGE, "base", root)


def test_images_are_chosen_by_long_or_short_name() -> None:
    assert [i.name for i in catalog.select(["toolchain", "bernstein"])] == [
        "bernstein-toolchain",
        "bernstein",
    ]
    assert catalog.select([]) == IMAGES
    with pytest.raises(ValueError, match="no image 'nothing'"):
        catalog.select(["nothing"])


@pytest.mark.parametrize("image", IMAGES, ids=lambda image: image.name)
def test_every_image_shares_base_and_first_layer_and_runs_as_a_user(image: Image) -> None:
    text = (ROOT / image.dockerfile).read_text()
    lines = text.splitlines()
    shared = [line for line in lines if line.startswith(SHARED_LINE)]
    assert len(shared) == 1
    first = (ROOT / IMAGES[0].dockerfile).read_text()
    assert shared[0] in first, "the line differs, so the layer is not shared"
    assert f"FROM {catalog.BASE_IMAGE}" in text
    assert "USER 1000:1000" in lines
    assert all(
        path.as_posix().startswith((image.folder, *image.sources))
        for line in lines
        if line.startswith("COPY ") and "--from=" not in line
        for path in map(Path, line.split()[1:-1])
        if not path.name.startswith("build-ca")
    ), "a COPY takes what is not part of the digest"


ARCHITECTURE = re.compile(r"x86_64|amd64|\bx64\b|aarch64|arm64|i[36]86|--platform")


@pytest.mark.parametrize("image", IMAGES, ids=lambda image: image.name)
def test_no_dockerfile_names_an_architecture(image: Image) -> None:
    """What is fetched for one is chosen by what fetches it: apt, pip, npm or the compiler."""
    assert ARCHITECTURE.findall((ROOT / image.dockerfile).read_text()) == []


def test_what_npm_fetches_is_there_for_both_architectures() -> None:
    for path in ROOT.glob("images/*/package-lock.json"):
        packages = json.loads(path.read_text())["packages"]
        names = Counter(p["name"] for p in packages.values() if "cpu" in p)
        found = {cpu for package in packages.values() for cpu in package.get("cpu", ())}
        assert found in (set(), {"arm64", "x64"})
        assert set(names.values()) in (set(), {2})
