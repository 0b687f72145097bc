"""Archives of images: what is in them, and that the time of the build is not."""

from __future__ import annotations

import gzip
import hashlib
import importlib.util
import io
import json
import struct
import tarfile
from pathlib import Path
from typing import Any

import pytest

from release import archives, parts
from release.errors import ReleaseError
from tests.cluster.local import image_archive
from tests.unit.release.saved_image import save

EPOCH = 1000
REFERENCE = "registry.example.com/team/thing:1.2.3"
SHADOW = b"root:*:20785:0:99999:7:::\nagent:!:20785::::::\n"


def read(archive: Path) -> dict[str, bytes]:
    with tarfile.open(archive) as tar:
        return {each.name: tar.extractfile(each).read() for each in tar}  # type: ignore[union-attr]


def blob(files: dict[str, bytes], digest: str) -> Any:
    content = files["blobs/" + digest.replace(":", "/")]
    assert f"sha256:{hashlib.sha256(content).hexdigest()}" == digest
    return content


def entries(files: dict[str, bytes], described: Any) -> list[tarfile.TarInfo]:
    packed = blob(files, described["digest"])
    assert len(packed) == described["size"]
    with tarfile.open(fileobj=io.BytesIO(gzip.decompress(packed))) as tar:
        return tar.getmembers()


def test_an_archive_has_the_layout_of_oci(tmp_path: Path) -> None:
    saved = save(tmp_path / "saved.tar", [{"bin/a": b"a"}, {"b": b"b"}], config={"User": "1000"})

    made = archives.convert(saved, tmp_path / "made.tar", REFERENCE, EPOCH, tmp_path / "kept")

    files = read(tmp_path / "made.tar")
    assert json.loads(files["oci-layout"]) == {"imageLayoutVersion": "1.0.0"}
    (top,) = json.loads(files["index.json"])["manifests"]
    assert top["digest"] == made.digest
    assert top["platform"] == {"architecture": "amd64", "os": "linux"}
    assert top["annotations"] == {
        "io.containerd.image.name": REFERENCE,
        "org.opencontainers.image.ref.name": "1.2.3",
    }
    manifest = json.loads(blob(files, top["digest"]))
    config = json.loads(blob(files, manifest["config"]["digest"]))
    assert config.keys() == {"architecture", "config", "created", "os", "rootfs"}
    assert config["config"] == {"Cmd": ["sh"], "User": "1000"}
    plain = [gzip.decompress(blob(files, each["digest"])) for each in manifest["layers"]]
    digests = [f"sha256:{hashlib.sha256(each).hexdigest()}" for each in plain]
    assert config["rootfs"]["diff_ids"] == digests
    assert [[e.name for e in entries(files, each)] for each in manifest["layers"]] == [
        ["bin/a"],
        ["b"],
    ]


def test_docker_finds_it_by_its_name_too(tmp_path: Path) -> None:
    saved, made = save(tmp_path / "saved.tar", [{"a": b"a"}]), tmp_path / "made.tar"
    archives.convert(saved, made, "thing:1", EPOCH, tmp_path / "kept")

    (named,) = image_archive.contents(made)
    assert named == "docker.io/library/thing:1"
    (listed,) = json.loads(read(made)["manifest.json"])
    assert listed["RepoTags"] == ["thing:1"]
    assert {listed["Config"], *listed["Layers"]} <= read(made).keys()


def test_two_builds_of_the_same_content_have_the_same_bytes(tmp_path: Path) -> None:
    made = []
    # One is built before the last commit, one after it.
    for number, mtime in enumerate((900.25, 9000.75)):
        content = {
            "a": b"a",
            "a.cpython-311.pyc": compiled(mtime),
            "etc/shadow": SHADOW.replace(b"20785", str(20000 + number).encode()),
            "etc/shadow-": str(mtime).encode(),
            "var/log/dpkg.log": str(mtime).encode(),
            "var/cache/ldconfig/aux-cache": str(mtime).encode(),
        }
        saved = save(tmp_path / f"saved-{number}.tar", [content], mtime=mtime)
        archive = tmp_path / f"made-{number}.tar"
        archives.convert(saved, archive, REFERENCE, EPOCH, tmp_path / f"kept-{number}")
        made.append(archive.read_bytes())

    assert made[0] == made[1]


def compiled(mtime: float, flags: int = 0) -> bytes:
    return importlib.util.MAGIC_NUMBER + struct.pack("<LLL", flags, int(mtime), 1) + b"code"


def test_all_files_are_of_one_time_and_the_rest_is_kept(tmp_path: Path) -> None:
    saved = save(tmp_path / "saved.tar", [{"old": b"x", "etc/shadow": SHADOW}], mtime=900)
    archives.convert(saved, tmp_path / "made.tar", REFERENCE, EPOCH, tmp_path / "kept")

    files = read(tmp_path / "made.tar")
    (top,) = json.loads(files["index.json"])["manifests"]
    (described,) = json.loads(blob(files, top["digest"]))["layers"]
    assert [(e.name, e.mtime, e.uname) for e in entries(files, described)] == [
        ("old", EPOCH, ""),
        ("etc/shadow", EPOCH, ""),
    ]
    assert entries(files, described)[0].pax_headers["SCHILY.xattr.user.kept"] == "yes"
    assert b"root:*::0:99999:7:::\n" in gzip.decompress(blob(files, described["digest"]))


def test_a_compiled_module_is_of_its_sources_time(tmp_path: Path) -> None:
    by_hash, torn = compiled(77, flags=1), compiled(77)[:12]
    content = {"a.pyc": compiled(77), "by-hash.pyc": by_hash, "torn.pyc": torn}
    saved = save(tmp_path / "saved.tar", [{"a.py": b"x", **content}])

    made = archives.convert(saved, tmp_path / "made.tar", REFERENCE, EPOCH, tmp_path / "kept")

    with tarfile.open(made.layers[0]) as tar:
        found = {e.name: (e.mtime, tar.extractfile(e).read()) for e in tar}  # type: ignore[union-attr]
    assert found == {
        "a.py": (EPOCH, b"x"),
        "a.pyc": (EPOCH, compiled(EPOCH)),
        "by-hash.pyc": (EPOCH, by_hash),
        "torn.pyc": (EPOCH, torn),
    }


def test_a_layer_whose_record_was_cut_off_is_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved, kept = save(tmp_path / "saved.tar", [{"a": b"a"}]), tmp_path / "kept"

    def full(*_: object, **__: object) -> str:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(json, "dumps", full)
        with pytest.raises(OSError, match="No space"):
            archives.convert(saved, tmp_path / "made.tar", REFERENCE, EPOCH, kept)
    assert list(kept.glob("*.json")) == []

    archives.convert(saved, tmp_path / "made.tar", REFERENCE, EPOCH, kept)
    (blob,) = kept.glob("*.tar.gz")
    blob.unlink()
    archives.convert(saved, tmp_path / "again.tar", REFERENCE, EPOCH, kept)

    assert (tmp_path / "again.tar").read_bytes() == (tmp_path / "made.tar").read_bytes()


def test_a_layer_that_is_kept_is_not_read_again(tmp_path: Path) -> None:
    saved = save(tmp_path / "saved.tar", [{"a": b"a"}])
    archives.convert(saved, tmp_path / "one.tar", REFERENCE, EPOCH, tmp_path / "kept")
    (packed,) = (tmp_path / "kept").glob("*.gz")
    stamp = packed.stat().st_mtime_ns

    archives.convert(saved, tmp_path / "two.tar", REFERENCE, EPOCH, tmp_path / "kept")

    assert packed.stat().st_mtime_ns == stamp
    assert (tmp_path / "one.tar").read_bytes() == (tmp_path / "two.tar").read_bytes()


def test_what_is_no_archive_of_an_image_is_told(tmp_path: Path) -> None:
    (tmp_path / "saved.tar").write_bytes(b"nothing")

    with pytest.raises(ReleaseError, match=r"BadArchive: .*saved\.tar"):
        archives.convert(
            tmp_path / "saved.tar", tmp_path / "made.tar", REFERENCE, EPOCH, tmp_path / "kept"
        )


def _one(folder: Path, architecture: str) -> Path:
    saved = save(folder / "saved.tar", [{"a": architecture.encode()}], architecture=architecture)
    to = folder / f"{architecture}.tar"
    archives.convert(saved, to, REFERENCE, EPOCH, folder / "kept")
    return to


def test_archives_of_two_architectures_become_one_image(tmp_path: Path) -> None:
    both = [_one(tmp_path, name) for name in ("arm64", "amd64")]

    made = archives.join(both, tmp_path / "made.tar", REFERENCE)
    digest = made.digest
    assert made.architectures == ("arm64", "amd64")

    files = read(tmp_path / "made.tar")
    (top,) = json.loads(files["index.json"])["manifests"]
    assert (top["digest"], top["mediaType"]) == (digest, parts.INDEX)
    found = json.loads(blob(files, digest))["manifests"]
    assert [each["platform"]["architecture"] for each in found] == ["amd64", "arm64"]
    for each in found:
        manifest = json.loads(blob(files, each["digest"]))
        config = json.loads(blob(files, manifest["config"]["digest"]))
        assert config["architecture"] == each["platform"]["architecture"]
    assert archives.join(both[::-1], tmp_path / "again.tar", REFERENCE).digest == digest
    assert (tmp_path / "again.tar").read_bytes() == (tmp_path / "made.tar").read_bytes()


def test_two_of_the_same_architecture_are_refused(tmp_path: Path) -> None:
    one = _one(tmp_path, "amd64")

    with pytest.raises(ReleaseError, match=r"SameArchitecture.*amd64, amd64"):
        archives.join([one, one], tmp_path / "made.tar", REFERENCE)


def _spoiled(files: dict[str, bytes], how: str) -> None:
    top = json.loads(files["index.json"])
    (described,) = top["manifests"]
    manifest = json.loads(blob(files, described["digest"]))
    layer = "blobs/" + manifest["layers"][0]["digest"].replace(":", "/")
    if how == "bytes":
        files[layer] = files[layer][::-1]
    elif how == "missing":
        del files[layer]
    elif how == "size":
        described["size"] += 1
    elif how == "platform":
        described["platform"]["architecture"] = "riscv64"
    elif how == "digest":
        described["digest"] = "sha256:../../index.json"
    else:
        top["manifests"].append(described)
    files["index.json"] = json.dumps(top).encode()


@pytest.mark.parametrize("how", ["bytes", "missing", "size", "platform", "digest", "two"])
def test_what_another_machine_made_is_believed_by_its_digests(tmp_path: Path, how: str) -> None:
    ours, theirs = _one(tmp_path, "amd64"), _one(tmp_path, "arm64")
    files = read(theirs)
    _spoiled(files, how)
    with tarfile.open(theirs, "w") as tar:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))

    with pytest.raises(ReleaseError, match=r"BadArchive: .*arm64\.tar"):
        archives.join([ours, theirs], tmp_path / "made.tar", REFERENCE)
    assert not (tmp_path / "made.tar").exists()


def test_a_blob_under_the_name_of_ours_changes_nothing(tmp_path: Path) -> None:
    ours, theirs = _one(tmp_path, "amd64"), _one(tmp_path, "arm64")
    name = next(name for name in read(ours) if name.startswith("blobs/"))
    files = {**read(theirs), name: b"another"}
    with tarfile.open(theirs, "w") as tar:
        for each, content in files.items():
            entry = tarfile.TarInfo(each)
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))

    archives.join([ours, theirs], tmp_path / "made.tar", REFERENCE)

    assert read(tmp_path / "made.tar")[name] == read(ours)[name]


def test_what_is_missing_torn_or_joined_already_is_told(tmp_path: Path) -> None:
    ours, theirs = _one(tmp_path, "amd64"), _one(tmp_path, "arm64")
    joined, torn = tmp_path / "joined.tar", tmp_path / "torn.tar"
    archives.join([ours, theirs], joined, REFERENCE)
    torn.write_bytes(theirs.read_bytes()[:-4000][:3000])

    for each in (joined, torn, tmp_path / "none.tar"):
        with pytest.raises(ReleaseError, match=f"BadArchive: .*{each.name}"):
            archives.join([ours, each], tmp_path / "made.tar", REFERENCE)


@pytest.mark.parametrize(
    ("reference", "full"),
    [
        ("thing:1", "docker.io/library/thing:1"),
        ("team/thing:1", "docker.io/team/thing:1"),
        ("localhost/thing:1", "localhost/thing:1"),
        ("host:5000/thing:1", "host:5000/thing:1"),
        (REFERENCE, REFERENCE),
    ],
)
def test_a_name_is_spelled_out_as_containerd_has_it(reference: str, full: str) -> None:
    assert archives.full_name(reference) == full
