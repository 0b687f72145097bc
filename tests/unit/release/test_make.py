"""The folder of a release: names, digests, sums, and what is refused."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tarfile
from pathlib import Path
from threading import Thread

import pytest
import yaml

from release import parts, sums
from release.errors import ReleaseError
from release.folder import MARKER
from release.make import Order, Release
from release.sources import PUBLISHED, Sources
from tests.cluster.machine.lock import locked
from tests.images import catalog
from tests.unit.docs.pages import ROOT
from tests.unit.release.saved_image import save

STATED = (
    *("CHANGELOG.md", "pyproject.toml", "operator/bernstein_gates/pyproject.toml"),
    *(
        "charts/bernstein/Chart.yaml",
        "packaging/krew/bernstein.yaml",
        "images/bernstein/Dockerfile",
    ),
)


def git(root: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=Ann", "-c", "user.email=ann@example.invalid")
    subprocess.run(["git", "-C", str(root), *identity, *arguments], check=True, capture_output=True)


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with what says the version."""
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    monkeypatch.setenv("GIT_COMMITTER_DATE", "@5000 +0000")
    root = tmp_path / "clone"
    for name in STATED:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, root / name)
    git(root, "init", "--quiet")
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", "all")
    return root


def release(clone: Path, order: Order, said: list[str] | None = None) -> Release:
    made = Release(order, Sources(clone), (said if said is not None else []).append)
    made.begin()
    return made


def test_names_begin_with_the_registry_and_digests_are_kept_beside(
    clone: Path, tmp_path: Path
) -> None:
    to = tmp_path / "dist"
    saved = [
        ("bernstein", save(tmp_path / "one.tar", [{"a": b"1"}])),
        ("bernstein-toolchain", save(tmp_path / "two.tar", [{"a": b"2"}])),
    ]
    (clone / "CHANGELOG.md").write_text("## [0.1.0] - 2026-01-01\n\n- A\n")
    made = release(clone, Order(to, "registry.example.com/team"))

    made.images(saved, tmp_path / "kept")
    made.end()

    lines = (to / "images.txt").read_text().splitlines()
    names = [line.rpartition("@")[0] for line in lines]
    assert names == [
        f"registry.example.com/team/bernstein:{made.version}",
        f"registry.example.com/team/bernstein-toolchain:{made.version}",
    ]
    values = yaml.safe_load((to / "values-digests.yaml").read_text())
    assert values == {"image": {"digest": lines[0].rpartition("@")[2]}}
    assert (to / f"sbom/bernstein-{made.version}-amd64.cdx.json").exists()


def test_sums_are_those_of_every_file(clone: Path, tmp_path: Path) -> None:
    to = tmp_path / "dist"
    made = release(clone, Order(to))
    made.images([("bernstein", save(tmp_path / "one.tar", [{"a": b"1"}]))], tmp_path / "kept")
    made.end()

    check = ["sha256sum", "--check", "--strict", "SHA256SUMS"]
    assert subprocess.run(check, cwd=to, capture_output=True, check=False).returncode == 0
    listed = {line.split("  ")[1] for line in (to / "SHA256SUMS").read_text().splitlines()}
    there = {path.relative_to(to).as_posix() for path in to.rglob("*") if path.is_file()}
    assert listed == there - {"SHA256SUMS", MARKER}
    (to / "images.txt").write_text("another")
    assert subprocess.run(check, cwd=to, capture_output=True, check=False).returncode != 0


def of_machine(
    clone: Path, folder: Path, architecture: str, *also: Path, chart: str = "chart"
) -> Release:
    """A whole release, of a machine of this architecture."""
    saved = folder.parent / f"{folder.name}.tar"
    save(saved, [{"a": architecture.encode()}], architecture=architecture)
    made = release(clone, Order(folder, also=also))
    (folder / "bernstein-1.tgz").write_text(chart)
    made.images([("bernstein", saved)], folder.parent / "kept")
    made.end()
    return made


def test_images_of_another_machine_are_joined(clone: Path, tmp_path: Path) -> None:
    amd64, arm64 = tmp_path / "amd64", tmp_path / "arm64"
    of_machine(clone, amd64, "amd64")
    (amd64 / "sbom/bernstein-0.1.0-s390x.cdx.json").write_text("of nobody")
    sums.write(amd64)

    made = of_machine(clone, arm64, "arm64", amd64)

    boms = {path.name for path in (arm64 / "sbom").iterdir()}
    assert boms == {f"bernstein-{made.version}-{name}.cdx.json" for name in ("amd64", "arm64")}
    (archive,) = (arm64 / "images").iterdir()
    assert archive.name == f"bernstein-{made.version}.tar"
    with tarfile.open(archive) as tar:
        index = tar.extractfile("index.json")
        assert index is not None
        (top,) = json.load(index)["manifests"]
    assert top["mediaType"] == parts.INDEX
    assert (arm64 / "images.txt").read_text() == f"bernstein:{made.version}@{top['digest']}\n"
    values = yaml.safe_load((arm64 / "values-digests.yaml").read_text())
    assert values == {"image": {"digest": top["digest"]}}


def test_a_folder_of_another_machine_has_to_be_whole(clone: Path, tmp_path: Path) -> None:
    amd64, arm64 = tmp_path / "amd64", tmp_path / "arm64"
    made = of_machine(clone, amd64, "amd64")
    bom = amd64 / f"sbom/bernstein-{made.version}-amd64.cdx.json"
    bom.write_text(bom.read_text() + " ")

    with pytest.raises(ReleaseError, match=r"BadSums.*amd64\.cdx\.json"):
        of_machine(clone, arm64, "arm64", amd64)
    (amd64 / sums.NAME).unlink()
    with pytest.raises(ReleaseError, match="BadSums"):
        of_machine(clone, arm64, "arm64", amd64)


def test_a_folder_of_another_commit_is_refused(clone: Path, tmp_path: Path) -> None:
    amd64 = tmp_path / "amd64"
    of_machine(clone, amd64, "amd64", chart="another")

    with pytest.raises(ReleaseError, match=r"AnotherRelease.*bernstein-1\.tgz"):
        of_machine(clone, tmp_path / "arm64", "arm64", amd64)


def test_times_are_those_of_commits(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sources = Sources(clone)
    monkeypatch.setenv("GIT_COMMITTER_DATE", "@9000 +0000")
    (clone / "CHANGELOG.md").write_text("## [Unreleased]\n\n- A\n")
    assert sources.changed()
    git(clone, "commit", "--quiet", "--all", "--message", "more")

    assert not sources.changed()
    assert (sources.epoch(), sources.epoch("images")) == (9000, 5000)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "7000")
    assert (sources.epoch(), sources.epoch("images")) == (7000, 7000)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "yesterday")
    with pytest.raises(ReleaseError, match=r"BadEpoch.*yesterday"):
        sources.epoch()


def test_where_git_does_not_know_the_time_there_is_none(clone: Path, tmp_path: Path) -> None:
    with pytest.raises(ReleaseError, match=r"NoCommit.*nowhere"):
        Sources(clone).epoch("nowhere")
    (clone / "more").write_text("more")
    git(clone, "add", "more")
    git(clone, "commit", "--quiet", "--message", "more")
    shallow = tmp_path / "shallow"
    git(tmp_path, "clone", "--quiet", "--depth", "1", clone.as_uri(), str(shallow))
    with pytest.raises(ReleaseError, match="ShallowClone"):
        Sources(shallow).epoch("images")


def test_files_that_no_commit_has_are_told(clone: Path, tmp_path: Path) -> None:
    said: list[str] = []
    release(clone, Order(tmp_path / "one"), said)
    assert said == []
    with (clone / "CHANGELOG.md").open("a") as file:
        file.write("\n")
    release(clone, Order(tmp_path / "two"), said)
    assert "nobody else can make these bytes" in said[0]


def test_versions_that_differ_are_told_with_their_files(clone: Path, tmp_path: Path) -> None:
    chart = clone / "charts/bernstein/Chart.yaml"
    text = re.sub(r"^version: .*$", "version: 9.9.9", chart.read_text(), flags=re.MULTILINE)
    chart.write_text(text)

    with pytest.raises(ReleaseError, match=r"VersionsDiffer.*9\.9\.9 in charts/bernstein/Chart"):
        release(clone, Order(tmp_path / "dist"))


@pytest.mark.parametrize("registry", ["https://registry.example.com", "A/b", "a b", "a//b", "/a"])
def test_what_no_name_of_an_image_begins_with_is_refused(
    clone: Path, tmp_path: Path, registry: str
) -> None:
    with pytest.raises(ReleaseError, match="BadRegistry"):
        release(clone, Order(tmp_path / "dist", registry))


@pytest.mark.parametrize("order", [("registry.example.com/team", ""), ("", "https://example.com")])
def test_a_version_that_has_been_released_is_tried_and_not_pushed(
    clone: Path, tmp_path: Path, order: tuple[str, str]
) -> None:
    changelog = "## [Unreleased]\n\n- B\n\n## [0.1.0] - 2026-01-01\n\n- A\n"
    (clone / "CHANGELOG.md").write_text(changelog)
    to = tmp_path / "dist"

    with pytest.raises(ReleaseError, match="AlreadyReleased"):
        release(clone, Order(to, *order))
    assert not to.exists()
    release(clone, Order(to))
    assert "not released yet" in (to / "RELEASE_NOTES.md").read_text()


def test_what_git_does_not_know_is_not_published(clone: Path, tmp_path: Path) -> None:
    to = tmp_path / "dist"
    (clone / "notes.txt").write_text("no part of a release")
    (clone / ".gitignore").write_text("__pycache__/\n")
    (clone / "images/bernstein/__pycache__").mkdir()
    (clone / "images/bernstein/__pycache__/a.pyc").write_text("ignored here and by builds")
    release(clone, Order(to))
    stray = clone / "charts/bernstein/secret.yaml"
    stray.write_text("password: x")
    # What somebody's own settings of git ignore is published all the same.
    (clone / ".git/info/exclude").write_text("secret.yaml\n")

    with pytest.raises(ReleaseError, match=r"UnknownFiles: .*charts/bernstein/secret\.yaml"):
        release(clone, Order(to))
    assert (to / "RELEASE_NOTES.md").exists()
    stray.unlink()
    release(clone, Order(to))


def test_all_that_images_are_built_from_is_looked_at() -> None:
    folders = [folder for image in catalog.IMAGES for folder in (image.folder, *image.sources)]

    for each in folders:
        if (ROOT / each).is_dir():
            assert any(Path(each).is_relative_to(top) for top in PUBLISHED), each


def test_layers_that_a_whole_release_has_not_used_are_removed(clone: Path, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    old = save(tmp_path / "old.tar", [{"a": b"old"}])
    release(clone, Order(tmp_path / "one")).images([("bernstein", old)], kept)
    (kept / "torn.partial").write_text("torn")
    of_before = {path.name for path in kept.iterdir()}
    made = release(clone, Order(tmp_path / "two"))
    made.images([("bernstein", save(tmp_path / "new.tar", [{"a": b"new"}]))], kept)

    made.forget(kept)

    left = {path.name for path in kept.iterdir()}
    assert left & of_before == {"lock"}
    assert {name.partition(".")[2] for name in left - {"lock"}} == {"json", "tar.gz"}


def test_nobody_else_writes_layers_meanwhile(clone: Path, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    saved = save(tmp_path / "saved.tar", [{"a": b"1"}])
    made = release(clone, Order(tmp_path / "dist"))
    with locked(kept / "lock", "layers"):
        other = Thread(target=made.images, args=([("bernstein", saved)], kept))
        other.start()
        other.join(0.3)
        assert [path.name for path in kept.iterdir()] == ["lock"]
    other.join()
    assert len(list(kept.iterdir())) == 3
