from __future__ import annotations

import io
import json
import tarfile
from pathlib import Path

import pytest

from tests.cluster.errors import ClusterError
from tests.cluster.local.image_archive import contents, full_name, write


@pytest.mark.parametrize(
    ("reference", "full"),
    [
        ("tool", "docker.io/library/tool:latest"),
        ("tool:dev", "docker.io/library/tool:dev"),
        ("team/tool:dev", "docker.io/team/tool:dev"),
        ("example.org/tool", "example.org/tool:latest"),
        ("localhost:5000/tool", "localhost:5000/tool:latest"),
        ("localhost/tool:1", "localhost/tool:1"),
        ("tool@sha256:00", "docker.io/library/tool@sha256:00"),
    ],
)
def test_short_reference_means_what_docker_means(reference: str, full: str) -> None:
    assert full_name(reference) == full


def test_written_image_is_read_back_and_named_by_its_contents(tmp_path: Path) -> None:
    write(tmp_path / "a.tar", "tool:1", [("/tool", b"one")], ["/tool"])
    write(tmp_path / "b.tar", "tool:1", [("/tool", b"two")], ["/tool"])
    write(tmp_path / "c.tar", "tool:1", [("/tool", b"one")], ["/tool"])
    a, b, c = (contents(tmp_path / f"{name}.tar") for name in "abc")
    assert list(a) == ["docker.io/library/tool:1"]
    assert a == c
    assert a != b


def test_layer_holds_executable_files_and_matches_its_digest(tmp_path: Path) -> None:
    write(tmp_path / "a.tar", "tool:1", [("/bin/tool", b"one")], ["/bin/tool"])
    with tarfile.open(tmp_path / "a.tar") as image:
        manifest = json.load(image.extractfile("manifest.json"))  # type: ignore[arg-type]
        layer = image.extractfile(manifest[0]["Layers"][0])
        assert layer
        with tarfile.open(fileobj=io.BytesIO(layer.read())) as files:
            (tool,) = files.getmembers()
    assert (tool.name, tool.mode) == ("bin/tool", 0o755)


def manifest_only(path: Path, manifest: object) -> Path:
    with tarfile.open(path, "w") as tar:
        data = json.dumps(manifest).encode()
        entry = tarfile.TarInfo("manifest.json")
        entry.size = len(data)
        tar.addfile(entry, io.BytesIO(data))
    return path


@pytest.mark.parametrize("manifest", [[], {}, [{"Config": "absent", "RepoTags": ["a:1"]}], [{}]])
def test_archive_without_usable_image_is_refused(tmp_path: Path, manifest: object) -> None:
    with pytest.raises(ClusterError, match="BadImageArchive"):
        contents(manifest_only(tmp_path / "a.tar", manifest))


def test_file_that_is_no_archive_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.tar").write_text("hello")
    with pytest.raises(ClusterError, match=r"BadImageArchive: .*a\.tar is no image archive"):
        contents(tmp_path / "a.tar")
