"""What upgrades are tried from is packed as a release is, and put in place when it is whole."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest

from release import wheels
from release.errors import ReleaseError
from release.sources import Sources
from tests.releases import last
from tests.releases.__main__ import keep
from tests.unit.docs.pages import ROOT

PROJECTS = ("bernstein", "bernstein_gates")


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a release of another time."""
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    monkeypatch.setattr(Sources, "refuse_unknown", lambda _: None)
    monkeypatch.setattr(wheels, "build", builds)
    (tmp_path / "0.0.9").mkdir()
    (tmp_path / "0.0.9/bernstein-0.0.9.tgz").write_bytes(b"old")
    return tmp_path


def builds(root: Path, files: list[str], to: Path, epoch: int) -> list[Path]:
    """As `wheels.build` does, which has tests of its own."""
    assert root / "pyproject.toml" in [root / name for name in files]
    made = [to / f"{name}-{Sources(root).version()}-py3-none-any.whl" for name in PROJECTS]
    for path in made:
        path.write_text(f"{path.name} of {epoch}")
    return made


def packs(*arguments: str) -> str:
    """As `helm package` does."""
    chart, to = Path(arguments[1]), Path(arguments[-1])
    with tarfile.open(to / f"bernstein-{arguments[3]}.tgz", "w:gz") as tar:
        for name in ("Chart.yaml", "values.yaml"):
            tar.add(chart / name, f"bernstein/{name}")
    return ""


def test_it_is_what_a_release_has(kept: Path) -> None:
    sources = Sources(ROOT)

    made = keep(sources, packs, kept)

    assert made == last(kept)
    assert made.version == sources.version()
    assert {path.name for path in kept.iterdir()} == {made.version}
    assert set(made.folder.iterdir()) == {made.chart, made.wheel}
    with tarfile.open(made.chart) as tar:
        assert {entry.mtime for entry in tar} == {1700000000}


def test_it_may_be_made_again_in_its_own_place(kept: Path) -> None:
    first = keep(Sources(ROOT), packs, kept)
    before = first.wheel.read_bytes(), first.chart.read_bytes()

    again = keep(Sources(ROOT), packs, kept)

    assert again == first
    assert (again.wheel.read_bytes(), again.chart.read_bytes()) == before


def test_the_last_one_stays_where_the_next_cannot_be_made(
    kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> list[Path]:
        raise ReleaseError("WheelFailed", "no", "see what pip says")

    monkeypatch.setattr(wheels, "build", fails)

    with pytest.raises(ReleaseError, match="WheelFailed"):
        keep(Sources(ROOT), packs, kept)

    assert [path.name for path in kept.iterdir()] == ["0.0.9"]
