"""Files that have another name than before, known by what is in them."""

from __future__ import annotations

import time

import pytest

from bernstein.checks import renames

Files = dict[str, str]


def renamed(before: Files, after: Files) -> dict[str, str]:
    def content(files: Files) -> renames.Content:
        return lambda path: files[path].encode() if path in files else None

    return dict(renames.renamed(before, content(before), after, content(after)))


CODE = "".join(f"line_{i} = {i}\n" for i in range(10))


@pytest.mark.parametrize(
    "text", [CODE, CODE + "more = 1\n", CODE.replace("= 3", "= 33"), "\n" + CODE, CODE * 2]
)
def test_a_file_is_known_under_its_new_name_by_most_of_its_lines(text: str) -> None:
    assert renamed({"a.py": CODE}, {"p/b.py": text}) == {"p/b.py": "a.py"}


def test_another_file_is_a_new_one() -> None:
    assert renamed({"a.py": CODE}, {"b.py": CODE.replace("line", "other")}) == {}


def test_a_copy_is_a_new_file() -> None:
    assert renamed({"a.py": CODE}, {"a.py": CODE, "b.py": CODE}) == {}


def test_a_file_that_was_there_is_no_other_one() -> None:
    assert renamed({"a.py": CODE, "b.py": "x = 1\n"}, {"b.py": CODE}) == {}


def test_a_file_stands_for_one_other_alone() -> None:
    assert renamed({"a.py": CODE}, {"b.py": CODE, "c.py": CODE}) == {"b.py": "a.py"}


def test_of_several_the_most_similar_is_it_and_then_the_one_of_the_same_name() -> None:
    changed = CODE.replace("= 3", "= 33").replace("= 4", "= 44")

    assert renamed({"a.py": changed, "b.py": CODE}, {"x/a.py": CODE + "m = 1\n"}) == {
        "x/a.py": "b.py"
    }
    assert renamed({"p/__init__.py": "", "p/x.py": ""}, {"q/x.py": "", "q/__init__.py": ""}) == {
        "q/x.py": "p/x.py",
        "q/__init__.py": "p/__init__.py",
    }


def test_of_very_many_files_only_the_very_same_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(renames, "MOST_FILES", 1)

    assert renamed({"a": CODE, "b": "1\n2\n", "c": "3\n"}, {"x": CODE, "y": "1\n2\n4\n"}) == {
        "x": "a"
    }


def test_beyond_very_many_lines_only_the_very_same_are_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(renames, "MOST_LINES_OF_ALL", 15)
    other = CODE.replace("line", "other")
    before = {"a": CODE, "b": other, "c": "same\n"}

    assert renamed(before, {"x": CODE + "m\n", "y": other + "m\n", "z": "same\n"}) == {
        "x": "a",
        "z": "c",
    }


def test_each_file_is_looked_at_once_for_all_that_is_found_there() -> None:
    looks: list[str] = []

    def content(path: str) -> bytes:
        looks.append(path)
        return b""

    renames.renamed(["a.py"] * 1000, content, ["a.py"] * 1000, content)

    assert len(looks) <= 2


def test_many_large_files_take_little_time() -> None:
    before = {f"{i}.py": "".join(f"{i} {line}\n" for line in range(500)) for i in range(200)}
    after = {f"new/{path}": text + "more\n" for path, text in before.items()}
    start = time.process_time()

    assert renamed(before, after) == {f"new/{path}": path for path in before}
    assert time.process_time() - start < 5
