"""Which versions a tree pins, as the program reads them that asks for weaknesses."""

from __future__ import annotations

from pathlib import Path

import pytest

from bernstein.checks.tools.advisories import pins


def pinned(tmp_path: Path, path: str, text: str) -> list[tuple[str, str]]:
    file = tmp_path / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return [(pin.name, pin.version) for pin in pins(tmp_path)]


@pytest.mark.parametrize(
    "line",
    [
        "Some_Thing==1.0",
        "  some.thing[all,more] == 1.0  # why",
        "some-thing===1.0 ; python_version < '4'",
        "some-thing==1.0 --hash=sha256:00",
        "some-thing==1.0 \\",
        "some-thing\\\n==1.0",
        "some-thing==1.0 --config-settings=x=y",
        "some-thing==1.0 -Cx=y",
        "some-thing==1.0,!=2.0",
        "some-thing>=0.9,==1.0",
        "some-thing (==1.0)",
    ],
)
def test_a_version_is_read_however_it_is_pinned(line: str, tmp_path: Path) -> None:
    assert pinned(tmp_path, "requirements.txt", f"# first\n{line}\n") == [("some-thing", "1.0")]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32", "latin-1"])
def test_a_list_is_read_in_whatever_encoding_it_is(encoding: str, tmp_path: Path) -> None:
    text = "# coding: latin-1\n# für alle\nthing==1.0\n"
    (tmp_path / "REQUIREMENTS.txt").write_bytes(text.encode(encoding))

    assert [(pin.name, pin.version) for pin in pins(tmp_path)] == [("thing", "1.0")]


@pytest.mark.parametrize(
    "line",
    [
        "thing>=1.0",
        "thing==1.*",
        "thing",
        "-r other.txt",
        "--index-url https://example.com/==1",
        "thing @ https://example.com/thing==1.0",
        "# thing==1.0",
    ],
)
def test_what_pins_nothing_is_passed_over(line: str, tmp_path: Path) -> None:
    assert pinned(tmp_path, "requirements.txt", line) == []


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("p/requirements-test.in", "a==1\n"),
        ("requirements/all.txt", "a==1\n"),
        ("dev-requirements.txt", "a==1\n"),
        ("constraints.txt", "a==1\n"),
        ("uv.lock", '[[package]]\nname = "a"\nversion = "1"\n[[package]]\nname = "own"\n'),
        ("poetry.lock", '[[package]]\nname = "a"\nversion = "1"\n'),
        ("pylock.dev.toml", '[[packages]]\nname = "a"\nversion = "1"\n'),
        ("Pipfile.lock", '{"develop": {"a": {"version": "==1"}, "b": {"git": "x"}}}'),
        ("pyproject.toml", '[project.optional-dependencies]\ndev = ["a==1", "b>1"]\n'),
        ("pyproject.toml", '[dependency-groups]\ndev = ["a==1", {include-group = "b"}]\n'),
    ],
)
def test_every_usual_file_is_read(path: str, text: str, tmp_path: Path) -> None:
    assert pinned(tmp_path, path, text) == [("a", "1")]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("uv.lock", "package = 3\n"),
        ("uv.lock", "[[["),
        ("poetry.lock", '[[package]]\nversion = "1"\n'),
        ("Pipfile.lock", "[]"),
        ("Pipfile.lock", '{"default": {"a": "==1"}}'),
        ("pyproject.toml", 'project = "x"\n'),
    ],
)
def test_a_file_that_is_none_keeps_nothing_else_from_being_read(
    path: str, text: str, tmp_path: Path
) -> None:
    (tmp_path / "requirements.txt").write_text("a==1\n")

    assert pinned(tmp_path, path, text) == [("a", "1")]


def test_no_symlink_is_followed(tmp_path: Path) -> None:
    (tmp_path / "other").write_text("a==1\n")
    (tmp_path / "requirements.txt").symlink_to("other")

    assert pins(tmp_path) == []
