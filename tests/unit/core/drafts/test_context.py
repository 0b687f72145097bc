"""What a model is told of a repository: little, within its bytes, and no file that holds keys."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bernstein.core.drafts.context import (
    ROOM,
    Section,
    Seen,
    is_secret,
    read_first,
    sections,
)
from bernstein.core.prompts.marks import begin, end

MARK = "0123456789abcdef0123456789abcdef"


def size(found: tuple[Section, ...]) -> int:
    """Bytes that they take in the prompt, with the lines around them."""
    around = [(begin(MARK, each.title), end(MARK, each.title)) for each in found]
    lines = [line for pair in around for line in pair]
    return len("\n".join([*lines, *(each.text for each in found)]).encode())


def texts(seen: Seen, room: int = ROOM) -> dict[str, str]:
    return {each.title: each.text for each in sections(seen, room)}


def test_files_are_told_with_their_folders_those_at_the_top_first() -> None:
    seen = Seen(("src/app/main.py", "README.md", "src/app/api/a.py", "Makefile"))

    assert texts(seen) == {
        "files of the repository": "Makefile\nREADME.md\nsrc/\n  app/\n    main.py\n    api/\n"
        "      a.py"
    }


def test_where_not_all_levels_have_room_those_that_have_are_told_and_the_rest_is_counted() -> None:
    deep = [f"src/part{number}/module{number}.py" for number in range(200)]

    (tree,) = texts(Seen(("README.md", *deep)), 13_000).values()

    assert tree.startswith("README.md\nsrc/\n  part0/ (1 file)\n  part1/ (1 file)\n")
    assert len(tree.split("\n")) == 202


def test_of_folders_with_too_many_names_the_first_are_told() -> None:
    deep = [f"src/part{number:03}/module.py" for number in range(900)]

    (tree,) = texts(Seen(("README.md", *deep)), 3000).values()

    assert tree.split("\n") == [
        *("README.md", "src/"),
        *(f"  part{number:03}/ (1 file)" for number in range(40)),
        "  … and 860 more names",
    ]


def test_a_top_level_without_room_is_cut_and_says_how_much_is_missing() -> None:
    seen = Seen(tuple(f"file-{number:04}.py" for number in range(3000)))

    (tree,) = texts(seen).values()

    *shown, last = tree.split("\n")
    assert shown[0] == "file-0000.py"
    assert last == f"… and {3000 - len(shown)} more names"


def test_that_there_are_more_files_than_were_looked_at_is_said() -> None:
    assert "files of the repository, not all of them" in texts(Seen(("a",), all_of_it=False))


def test_the_beginnings_of_a_readme_and_of_build_files_are_told() -> None:
    readme = "\n".join(f"line {number}" for number in range(2000))
    given = {"README.md": readme, "pyproject.toml": "[project]\n", "Makefile": "test:\n\tpytest\n"}

    found = texts(Seen(tuple(given), given))

    assert [*found] == [
        "files of the repository",
        "file README.md, its beginning",
        "file pyproject.toml",
        "file Makefile",
    ]
    assert found["file Makefile"] == "test:\n\tpytest"
    told = found["file README.md, its beginning"].split("\n")
    assert told == readme.split("\n")[: len(told)]
    assert len(told) > 200


def test_a_long_build_file_leaves_room_for_those_behind_it() -> None:
    given = {"pyproject.toml": "a\n" * 60_000, "Makefile": "b\n" * 60_000}

    found = texts(Seen(tuple(given), given))

    assert all(len(text) > 1000 for title, text in found.items() if title.startswith("file "))


def test_only_what_lies_at_the_top_is_read() -> None:
    paths = ("docs/README.md", "README.rst", "readme.md", "web/package.json", "go.mod", "main.go")

    assert read_first(paths) == ("readme.md", "go.mod")


@pytest.mark.parametrize(
    "path",
    [
        *(".env", "app/.env.production", "prod.env", "tls/server.key", "a/b.PEM", "id_rsa"),
        *("id_ed25519.pub", ".npmrc", ".ssh/config", "home/.aws/credentials", "secrets.yaml"),
        *("deploy/kubeconfig.yaml", "terraform.tfstate", "prod.auto.tfvars", "Credentials.json"),
    ],
)
def test_files_that_are_called_as_those_with_keys_are_told_to_nobody(path: str) -> None:
    assert is_secret(path)
    assert texts(Seen((path,))) == {}


@pytest.mark.parametrize("path", ["README.md", "src/env.py", "keys/main.go", "docs/kube.md"])
def test_others_are_told(path: str) -> None:
    assert not is_secret(path)


def test_names_and_contents_are_made_safe_to_show() -> None:
    seen = Seen(("a\u202eb\nc.py", "README.md"), {"README.md": "x\x1b[31m\u200by\r\n"})

    found = texts(seen)

    assert found["files of the repository"].split("\n") == ["README.md", "ab c.py"]
    assert found["file README.md"] == "x[31my"


def test_a_folder_without_files_is_told_as_nothing() -> None:
    assert sections(Seen(())) == ()


PATHS = st.lists(
    st.lists(st.text(st.characters(exclude_characters="/\0"), min_size=1, max_size=8), min_size=1)
    .map("/".join)
    .map(lambda path: path[:300])
    .filter(lambda path: not path.endswith("/")),
    max_size=60,
)
CONTENTS = st.dictionaries(
    st.sampled_from(("README.md", "go.mod", "Makefile", "package.json")), st.text(max_size=4000)
)


@given(paths=PATHS, given_texts=CONTENTS, room=st.integers(1500, ROOM), times=st.integers(1, 40))
def test_whatever_is_in_a_folder_it_keeps_to_its_bytes(
    paths: list[str], given_texts: dict[str, str], room: int, times: int
) -> None:
    many = [f"{path}{number}" for number in range(times) for path in paths]
    seen = Seen((*many, *given_texts), {path: text * times for path, text in given_texts.items()})

    found = sections(seen, room)

    assert size(found) <= room
    assert found == sections(seen, room)
    assert all(each.text.strip() and "\n" not in each.title for each in found)
