"""Which versions a tree pins, as the program reads them that asks for weaknesses."""

from __future__ import annotations

from pathlib import Path

import pytest

from bernstein.checks.tools.advisories import MOST_NAMED, TooMany, pins


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
        ("setup.cfg", "[options]\ninstall_requires =\n    b>1\n    a==1; python_version > '3'\n"),
        ("setup.cfg", "[options.extras_require]\ntest = b; a==1\nlint =\n    %(none)s\n"),
        ("environment.yml", "dependencies:\n  - c==2\n  - pip:\n    - a==1  # why\n    - b\n"),
        ("environment.yaml", 'dependencies:\n- "pip" :\n  - "a==1" # why\n- pip\n- c==2\n'),
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
        ("setup.cfg", "install_requires = b==1\n"),
        ("setup.cfg", "[options]\ninstall_requires\n"),
        ("environment.yml", "- pip:\n"),
        ("environment.yml", "pip: [b==1]\n"),
        ("requirements-b.txt", "-r\n-r \0\n-r requirements-b.txt\n"),
        ("requirements-c.txt", f"-r {'x' * 5000}\n-c .\n-r /dev/zero\n"),
    ],
)
def test_a_file_that_is_none_keeps_nothing_else_from_being_read(
    path: str, text: str, tmp_path: Path
) -> None:
    (tmp_path / "requirements.txt").write_text("a==1\n")

    assert pinned(tmp_path, path, text) == [("a", "1")]


@pytest.mark.parametrize(
    "line",
    [
        *("-r ../base/pins", "-r../base/pins", "--requirement ../base/pins  # why"),
        *("-c ../base/pins", "--constraint=../base/pins", '-r "../base/pins"'),
    ],
)
def test_a_list_of_any_name_is_read_where_another_one_names_it(line: str, tmp_path: Path) -> None:
    (tmp_path / "base").mkdir()
    (tmp_path / "base/pins").write_text("-r more.list\na==1\n")
    (tmp_path / "base/more.list").write_text("-r pins\nb==2\n")

    assert pinned(tmp_path, "ci/requirements.txt", f"{line}\n") == [("a", "1"), ("b", "2")]
    assert [pin.path for pin in pins(tmp_path)] == ["base/pins", "base/more.list"]


def test_a_list_that_an_environment_names_is_read(tmp_path: Path) -> None:
    (tmp_path / "pins").write_text("a==1\n")

    assert pinned(tmp_path, "environment.yml", "dependencies:\n  - pip:\n    - -r pins\n") == [
        ("a", "1")
    ]


@pytest.mark.parametrize("name", ["../pins", "{}/pins", "file:///{}/pins", "link", "tree/pins"])
def test_no_list_outside_of_the_tree_is_read(name: str, tmp_path: Path) -> None:
    (tree := tmp_path / "tree").mkdir()
    (tmp_path / "pins").write_text("a==1\n")
    (tree / "link").symlink_to("../pins")
    (tree / "tree").symlink_to("..")

    assert pinned(tree, "requirements.txt", f"-r {name.format(tmp_path)}\n") == []


def test_so_many_lists_may_be_named_whether_they_are_there_or_not(tmp_path: Path) -> None:
    lines = [f"-r x{number}" for number in range(MOST_NAMED)]

    assert pinned(tmp_path, "requirements.txt", "\n".join([*lines, *lines, "a==1"])) == [("a", "1")]
    with pytest.raises(TooMany):
        pinned(tmp_path, "requirements.txt", "\n".join([*lines, "-r one-more"]))


def test_no_symlink_is_followed(tmp_path: Path) -> None:
    (tmp_path / "other").write_text("a==1\n")
    (tmp_path / "requirements.txt").symlink_to("other")

    assert pins(tmp_path) == []
