"""prepare of a Plan in conflict, and of the work that resolves it, against a real server."""

from __future__ import annotations

import subprocess
from collections.abc import Callable

import pytest

from bernstein.api.programs.merge import PrepareResult, ResolvesConfig
from bernstein.pods import termination
from bernstein.pods.git import conflicts
from tests.programs.pods.conftest import Origin
from tests.programs.pods.git_server import plain_env
from tests.programs.pods.programs.merging.refs import (
    CANDIDATE,
    INTEGRATION,
    SESSION,
    TARGET,
    reason,
)

pytestmark = pytest.mark.verification
MARKS = "refs/bernstein/01234567/conflict"
Files = dict[str, bytes | str | None]
Prepare = Callable[..., PrepareResult]


class Conflict:
    """A Plan and people have changed the same line; people have changed another file, too."""

    def __init__(self, origin: Origin) -> None:
        self.begun = origin.commit({"a": "one\n", "b": "two\n"})
        self.work = origin.commit({"a": "plan\n"}, self.begun, ref=INTEGRATION)
        self.tip = origin.commit({"a": "people\n", "b": "TWO\n"}, self.begun, ref=TARGET)
        self.resolves = ResolvesConfig(TARGET, self.tip)


@pytest.fixture
def conflict(origin: Origin) -> Conflict:
    return Conflict(origin)


def test_both_sides_and_what_they_began_with_stand_between_marks(
    origin: Origin, do_prepare: Prepare, conflict: Conflict
) -> None:
    said = do_prepare(conflict.work, ref=INTEGRATION, onto=TARGET, merge=True, marks=MARKS)

    assert (said.base, said.sha, said.conflicts) == (conflict.tip, "", ("a",))
    assert not said.altered
    assert origin.tip(MARKS) == said.marked
    parents = origin.git("rev-list", "--parents", "-1", said.marked)
    assert parents == f"{said.marked} {conflict.work}"
    assert origin.git("show", f"{said.marked}:b") == "TWO"
    lines = origin.git("show", f"{said.marked}:a").splitlines()
    assert [line for line in lines if not line.startswith("|||||||")] == [
        f"<<<<<<< {conflict.tip}",
        "people",
        "one",
        "=======",
        "plan",
        f">>>>>>> {conflict.work}",
    ]


@pytest.mark.parametrize("path", ["packages/@scope/a.js", "\u202ea", "two  spaces", "x" * 200])
def test_it_is_told_that_a_path_is_not_called_as_it_is_shown(
    origin: Origin, do_prepare: Prepare, path: str
) -> None:
    begun = origin.commit({path: "one\n"})
    work = origin.commit({path: "plan\n"}, begun, ref=INTEGRATION)
    origin.commit({path: "people\n"}, begun, ref=TARGET)

    said = do_prepare(work, ref=INTEGRATION, onto=TARGET, merge=True, marks=MARKS)

    assert said.marked
    assert said.altered
    assert said.conflicts != (path,)


def test_once_more_the_marks_are_the_very_same_commit(
    do_prepare: Prepare, conflict: Conflict
) -> None:
    asked = {"ref": INTEGRATION, "onto": TARGET, "merge": True, "marks": MARKS}
    assert do_prepare(conflict.work, **asked) == do_prepare(conflict.work, **asked)


def test_more_paths_than_are_told_get_no_marks(origin: Origin, do_prepare: Prepare) -> None:
    names = [f"f{number}" for number in range(25)]
    begun = origin.commit(dict.fromkeys(names, "one\n"))
    work = origin.commit(dict.fromkeys(names, "plan\n"), begun, ref=INTEGRATION)
    origin.commit(dict.fromkeys(names, "people\n"), begun, ref=TARGET)

    said = do_prepare(work, ref=INTEGRATION, onto=TARGET, merge=True, marks=MARKS)

    assert (len(said.conflicts), said.marked) == (20, "")
    assert origin.git("for-each-ref", MARKS) == ""


def test_what_resolves_it_is_a_merge_with_the_branch(
    origin: Origin, do_prepare: Prepare, conflict: Conflict
) -> None:
    mended = origin.commit({"a": "both\n", "b": "TWO\n"}, conflict.work, ref=SESSION)

    said = do_prepare(mended, resolves=conflict.resolves)

    assert (said.conflicts, said.base) == ((), conflict.work)
    parents = origin.git("rev-list", "--parents", "-1", said.sha)
    assert parents == f"{said.sha} {conflict.work} {conflict.tip}"
    assert origin.tip(CANDIDATE) == said.sha
    origin.git("update-ref", INTEGRATION, said.sha)
    whole = do_prepare(said.sha, ref=INTEGRATION, onto=TARGET, merge=True, candidate=f"{MARKS}-c")
    assert (whole.conflicts, origin.git("show", f"{whole.sha}:a")) == ((), "both")


@pytest.mark.parametrize(
    ("files", "wrong"),
    [
        ({"a": "both\n"}, ("b",)),
        ({"a": "both\n", "b": "TWO\n", "c": "new\n"}, ("c",)),
        ({"a": "plan\n>>>>>>> {work}\n", "b": "TWO\n"}, ("a",)),
        ({"a": "<<<<<<< {tip}\r\npeople\n", "b": "TWO\n"}, ("a",)),
        ({"a": "    <<<<<<< {tip}\n    people\n", "b": "TWO\n"}, ("a",)),
        ({"a": "people\n=======\nplan\n", "b": "TWO\n"}, ("a",)),
        ({"a": "people\r\n  =======\r\nplan\r\n", "b": "TWO\n"}, ("a",)),
        ({"a": "people\n||||||| 0123456\none\n", "b": "TWO\n"}, ("a",)),
        ({"a": "people\n|||||||", "b": "TWO\n"}, ("a",)),
    ],
    ids=[
        *("undoes what people did", "another file", "last mark", "first mark", "indented mark"),
        *("mark between", "indented mark between", "mark of the base", "mark without a label"),
    ],
)
def test_what_undoes_the_branch_changes_more_or_leaves_marks_is_no_candidate(
    origin: Origin,
    do_prepare: Prepare,
    conflict: Conflict,
    files: dict[str, str],
    wrong: tuple[str, ...],
) -> None:
    told = {"work": conflict.work, "tip": conflict.tip}
    filled: dict[str, str | bytes | None] = {
        path: text.format(**told) for path, text in files.items()
    }
    bad = origin.commit(filled, conflict.work, ref=SESSION)

    said = do_prepare(bad, resolves=conflict.resolves)

    assert (said.sha, said.conflicts) == ("", wrong)
    assert origin.git("for-each-ref", CANDIDATE) == ""


HEADINGS: dict[str, tuple[str, str, str]] = {
    "beside the conflict": ("People\n\nx\n=======\n", "Plan\n\nx\n=======\n", "one\n\nx\n"),
    "of people": ("People\n=======\n", "plan\n", "one\n"),
    "of the Plan": ("people\n", "Plan\n=======\n", "one\n"),
    "of both": ("People\n=======\n", "Plan\n=======\n", "one\n"),
    "of all three": ("People\n=======\n", "Plan\n=======\n", "One\n=======\n"),
}
"""What people, the Plan, and what both began with have in the file."""


@pytest.mark.parametrize("case", HEADINGS)
def test_a_heading_that_is_underlined_like_a_mark_resolves_it_and_one_line_more_does_not(
    origin: Origin, do_prepare: Prepare, case: str
) -> None:
    people, plan, one = HEADINGS[case]
    begun = origin.commit({"a": one})
    work = origin.commit({"a": plan}, begun, ref=INTEGRATION)
    tip = origin.commit({"a": people}, begun, ref=TARGET)
    resolves = ResolvesConfig(TARGET, tip)
    headings = (people + plan).count("=======")
    both = "".join(f"People and Plan {number}\n=======\n" for number in range(headings))
    for content in (people, plan, both):
        mended = origin.commit({"a": content}, work, ref=SESSION)
        assert do_prepare(mended, resolves=resolves).conflicts == ()

    marked = origin.commit({"a": f"{both}and\n=======\n"}, work, ref=SESSION)
    assert do_prepare(marked, resolves=resolves).conflicts == ("a",)


def test_so_does_one_of_a_file_that_has_another_name_by_now(
    origin: Origin, do_prepare: Prepare
) -> None:
    body = "".join(f"line {number}\n" for number in range(20))
    begun = origin.commit({"a": f"One\n=======\n{body}last\n"})
    work = origin.commit({"a": f"One\n=======\n{body}plan\n"}, begun, ref=INTEGRATION)
    moved: Files = {"a": None, "b": f"One\n=======\n{body}people\n"}
    tip = origin.commit(moved, begun, ref=TARGET)
    mended: Files = {"a": None, "b": f"One\n=======\n{body}both\n"}
    done = origin.commit(mended, work, ref=SESSION)

    assert do_prepare(done, resolves=ResolvesConfig(TARGET, tip)).conflicts == ()


@pytest.mark.parametrize("mended", [b"both\n", b"<<<<<<< plan\n"], ids=["settled", "marked"])
def test_a_file_too_large_to_be_looked_into_is_no_candidate_whatever_is_in_it(
    origin: Origin,
    do_prepare: Prepare,
    conflict: Conflict,
    mended: bytes,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(conflicts, "_MOST_BYTES", 1000)
    work = origin.commit({"a": mended + b"x" * 1000, "b": "TWO\n"}, conflict.work, ref=SESSION)

    said = do_prepare(work, resolves=conflict.resolves)

    assert (said.sha, said.conflicts) == ("", ("a",))


def test_a_conflict_in_a_file_too_large_to_be_looked_into_is_for_people(
    origin: Origin, do_prepare: Prepare, conflict: Conflict, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conflicts, "_MOST_BYTES", 10)

    said = do_prepare(conflict.work, ref=INTEGRATION, onto=TARGET, merge=True, marks=MARKS)

    assert (said.marked, said.for_people) == ("", ("a",))


def test_what_people_have_taken_from_the_branch_does_not_come_back(
    origin: Origin, do_prepare: Prepare, conflict: Conflict
) -> None:
    mended = origin.commit({"a": "both\n", "b": "TWO\n"}, conflict.work, ref=SESSION)
    origin.git("update-ref", TARGET, conflict.begun)

    assert reason(lambda: do_prepare(mended, resolves=conflict.resolves)) == "RefMoved"


LINK, MODULE = "->target", "!" + "1" * 40
CASES: dict[str, tuple[Files, Files, Files, tuple[str, ...]]] = {
    "binary": ({"p": b"\0one"}, {"p": b"\0plan"}, {"p": b"\0people"}, ("p",)),
    "changed and deleted": ({"p": "one\n"}, {"p": "plan\n"}, {"p": None}, ("p",)),
    "deleted and changed": ({"p": "one\n"}, {"p": None}, {"p": "people\n"}, ("p",)),
    "link": ({"p": LINK}, {"p": f"{LINK}/plan"}, {"p": f"{LINK}/people"}, ("p",)),
    "submodule": ({"p": MODULE}, {"p": "!" + "2" * 40}, {"p": "!" + "3" * 40}, ("p",)),
    "renamed twice": (
        {"p": "one\ntwo\nthree\n"},
        {"p": None, "plan": "one\ntwo\nthree\n"},
        {"p": None, "people": "one\ntwo\nthree\n"},
        ("p", "people", "plan"),
    ),
    "file and link": ({"q": "one\n"}, {"p": "plan\n"}, {"p": LINK}, ("p",)),
}


@pytest.mark.parametrize("text", [True, False], ids=["beside text", "alone"])
@pytest.mark.parametrize("case", CASES)
def test_what_git_cannot_mark_is_for_people_and_no_agent_that_does_nothing_resolves_it(
    origin: Origin, do_prepare: Prepare, case: str, text: bool
) -> None:
    before, plan, people, told = CASES[case]
    line: list[Files] = [{"a": f"{each}\n"} if text else {} for each in ("one", "plan", "people")]
    begun = origin.commit({"b": "two\n", **before, **line[0]})
    work = origin.commit({**plan, **line[1]}, begun, ref=INTEGRATION)
    tip = origin.commit({**people, **line[2]}, begun, ref=TARGET)

    said = do_prepare(work, ref=INTEGRATION, onto=TARGET, merge=True, marks=MARKS)

    assert (said.sha, said.marked) == ("", "")
    assert set(told) <= set(said.for_people)
    assert set(said.for_people) | ({"a"} if text else set()) == set(said.conflicts)
    assert "a" not in said.for_people
    assert origin.git("for-each-ref", MARKS) == ""

    # As an older release has begun one: its agent leaves all as git has put it there.
    merged = origin.git("commit-tree", marked_tree(origin, tip, work), "-p", work, "-m", "nothing")
    origin.git("update-ref", SESSION, merged)
    done = do_prepare(merged, resolves=ResolvesConfig(TARGET, tip))

    assert done.sha == ""
    assert set(told) <= set(done.conflicts)


def marked_tree(origin: Origin, tip: str, work: str) -> str:
    done = subprocess.run(
        ["git", "merge-tree", "--write-tree", "-z", "--name-only", tip, work],
        env=plain_env() | {"GIT_DIR": str(origin.path)},
        capture_output=True,
        check=False,
    )
    return done.stdout.split(b"\0")[0].decode()


def test_nobody_is_told_of_people_where_no_task_is_to_resolve_it(
    origin: Origin, do_prepare: Prepare
) -> None:
    begun = origin.commit({"p": b"\0one"})
    work = origin.commit({"p": b"\0plan"}, begun, ref=INTEGRATION)
    origin.commit({"p": b"\0people"}, begun, ref=TARGET)

    said = do_prepare(work, ref=INTEGRATION, onto=TARGET, merge=True)

    assert (said.conflicts, said.for_people) == (("p",), ())


def test_what_git_cannot_mark_is_told_as_far_as_there_is_room(
    origin: Origin, do_prepare: Prepare
) -> None:
    names = [f"{number}{chr(0x1F600) * 45}" for number in range(19)]
    begun = origin.commit(dict.fromkeys(names, b"\0one"))
    work = origin.commit(dict.fromkeys(names, b"\0plan"), begun, ref=INTEGRATION)
    origin.commit(dict.fromkeys(names, b"\0people"), begun, ref=TARGET)

    said = do_prepare(work, ref=INTEGRATION, onto=TARGET, merge=True, marks=MARKS)

    assert termination.fits(said)
    assert said.for_people
    assert said.conflicts
