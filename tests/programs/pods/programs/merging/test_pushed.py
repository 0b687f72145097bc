"""prepare, of what people have pushed to the branch of a pull request."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from bernstein.api.pod import TreeLimits
from bernstein.api.programs.merge import LandResult, PrepareResult, PushedConfig
from bernstein.pods import pushed
from bernstein.pods.errors import PodError
from tests.programs.pods.conftest import Origin
from tests.programs.pods.programs.merging.refs import CANDIDATE, TARGET, reason

pytestmark = pytest.mark.verification

BRANCH = "refs/heads/bernstein/shop-01234567"
Prepares = Callable[..., PrepareResult]


@pytest.fixture
def verified(origin: Origin) -> str:
    """What is proposed."""
    base = origin.commit({"a": "1\n", "b": "1\n"}, ref=TARGET)
    return origin.commit({"api.py": "new\n"}, base, ref=BRANCH)


@pytest.fixture
def prepares(verified: str, do_prepare: Prepares) -> Prepares:
    def run(sha: str, *, as_it_is: bool = True, **limits: Any) -> PrepareResult:
        theirs = PushedConfig(verified, as_it_is, TreeLimits(**limits))
        return do_prepare(sha, ref=BRANCH, onto="main", merge=True, pushed=theirs)

    return run


def test_where_the_branch_has_not_moved_it_is_the_candidate_itself(
    origin: Origin, verified: str, prepares: Prepares, do_land: Callable[..., LandResult]
) -> None:
    theirs = origin.commit({"api.py": "better\n"}, verified, ref=BRANCH)
    result = prepares(theirs)
    assert (result.sha, result.base, result.refused) == (theirs, origin.tip(TARGET), "")
    assert result.changed.files == 1, "against the branch, and not against what was verified"
    assert origin.tip(CANDIDATE) == theirs

    landed = do_land(theirs, result.base, onto="main", branch=BRANCH, branch_at=theirs)
    assert (landed.state, origin.tip(BRANCH)) == ("Landed", theirs)


def test_it_has_not_landed_by_being_there_where_the_branch_has_moved_meanwhile(
    origin: Origin, verified: str, prepares: Prepares, do_land: Callable[..., LandResult]
) -> None:
    """Where it is needs no push, so that its place alone proves nothing: it may not be attested."""
    theirs = origin.commit({"api.py": "better\n"}, verified, ref=BRANCH)
    result = prepares(theirs)
    there = {"onto": "main", "branch": BRANCH, "branch_at": theirs}
    tip = origin.commit({"b": "2\n"}, result.base, ref=TARGET)

    assert do_land(theirs, result.base, **there) == LandResult("Moved", tip)


def test_else_it_is_merged_with_the_branch_and_nobodys_commit_goes(
    origin: Origin, verified: str, prepares: Prepares
) -> None:
    theirs = origin.commit({"api.py": "better\n"}, verified, ref=BRANCH)
    tip = origin.commit({"b": "2\n"}, origin.tip(TARGET), ref=TARGET)
    result = prepares(theirs)
    assert origin.git("rev-list", "--parents", "-1", result.sha) == f"{result.sha} {tip} {theirs}"
    assert origin.tip(BRANCH) == theirs


def test_so_it_is_where_the_commit_is_to_be_signed(
    origin: Origin, verified: str, prepares: Prepares
) -> None:
    theirs = origin.commit({"api.py": "better\n"}, verified, ref=BRANCH)
    result = prepares(theirs, as_it_is=False)
    parents = origin.git("rev-list", "--parents", "-1", result.sha).split()
    assert parents == [result.sha, origin.tip(TARGET), theirs]


def test_what_a_forge_has_merged_of_the_branch_is_nothing_that_is_hidden(
    origin: Origin, verified: str, prepares: Prepares
) -> None:
    tip = origin.commit({"b": "2\n"}, origin.tip(TARGET), ref=TARGET)
    theirs = origin.commit({"b": "2\n"}, verified, tip, ref=BRANCH)
    assert prepares(theirs).sha == theirs


def test_what_no_check_would_see_is_refused(
    origin: Origin, verified: str, prepares: Prepares
) -> None:
    """The last tree is what checks see; a secret in a commit before it is delivered, too."""
    secret = origin.commit({"key.pem": "secret\n"}, verified)
    theirs = origin.commit({"key.pem": None, "c": "1\n"}, secret, ref=BRANCH)
    result = prepares(theirs)
    assert (result.sha, result.refused) == (
        "",
        "its commits hold 'key.pem' as it is in none that any check sees: make one commit of them",
    )
    assert origin.git("for-each-ref", CANDIDATE) == ""


def test_so_is_a_side_of_a_merge_whose_tree_is_thrown_away(
    origin: Origin, verified: str, prepares: Prepares
) -> None:
    side = origin.commit({"key.pem": "secret\n"}, verified)
    theirs = origin.commit({"c": "1\n"}, verified, side, ref=BRANCH)
    assert "'key.pem'" in prepares(theirs).refused


def test_so_is_more_than_anybody_looks_through(
    origin: Origin, verified: str, prepares: Prepares, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pushed, "MOST_OBJECTS", 3)
    many = origin.commit({f"c{n}": f"{n}\n" for n in range(3)}, verified)
    kept = origin.commit({"d": "1\n"}, many, ref=BRANCH)
    assert prepares(kept).sha == kept, "what the last one has is looked at as what it holds"
    theirs = origin.commit({f"c{n}": None for n in range(3)}, kept, ref=BRANCH)
    assert prepares(theirs).refused == (
        "its commits bring 7 objects that the files of the last one are not, and 3 are looked "
        "through at most: make one commit of them"
    )


def test_several_commits_whose_files_are_all_there_in_the_end_are_fine(
    origin: Origin, verified: str, prepares: Prepares
) -> None:
    first = origin.commit({"c": "1\n"}, verified)
    theirs = origin.commit({"d": "1\n"}, first, ref=BRANCH)
    assert prepares(theirs).sha == theirs


@pytest.mark.parametrize(
    ("files", "limits", "why"),
    [
        ({"lib": "!" + "1" * 40}, {}, "it adds or changes a submodule, 'lib'"),
        ({"c": "12345"}, {"file_bytes": 4}, "'c' has over 4 bytes"),
        ({"c": "123", "d": "456"}, {"total_bytes": 5}, "its files have over 5 bytes together"),
        ({"c": "1", "d": "2"}, {"files": 1}, "it changes over 1 files"),
        ({"c/d/e": "1"}, {"depth": 2}, "'c/d/e' lies in over 2 folders"),
        (
            {"/".join(["c" * 99] * 40): "1"},
            {},
            f"the path of '{('c' * 99 + '/') * 1 + 'c' * 49}…' has over 3900 bytes",
        ),
    ],
)
def test_so_is_what_no_agent_could_leave(
    origin: Origin,
    verified: str,
    prepares: Prepares,
    files: dict[str, bytes | str | None],
    limits: dict[str, int],
    why: str,
) -> None:
    theirs = origin.commit({**files, "api.py": None}, verified, ref=BRANCH)
    assert prepares(theirs, **limits).refused == why


def test_a_name_is_told_as_one(origin: Origin, verified: str, prepares: Prepares) -> None:
    theirs = origin.commit({"c\n\x1b[2Jd\udcff": "12345"}, verified, ref=BRANCH)
    refused = prepares(theirs, file_bytes=4).refused
    assert refused.endswith("has over 4 bytes")
    assert refused.isprintable()


def test_a_history_of_its_own_is_refused(origin: Origin, verified: str, prepares: Prepares) -> None:
    theirs = origin.commit({"a": "1\n"}, ref=BRANCH)
    assert prepares(theirs).refused == "it has no commit in common with the branch"


def test_what_holds_nothing_new_is_the_branch_itself(
    origin: Origin, verified: str, prepares: Prepares
) -> None:
    tip = origin.tip(TARGET)
    origin.git("update-ref", BRANCH, tip)
    result = prepares(tip)
    assert (result.sha, result.base) == (tip, tip)


def test_another_push_in_between_is_no_candidate(
    origin: Origin, verified: str, prepares: Prepares
) -> None:
    theirs = origin.commit({"c": "1\n"}, verified, ref=BRANCH)
    origin.commit({"d": "1\n"}, theirs, ref=BRANCH)
    assert reason(lambda: prepares(theirs)) == "RefMoved"
    assert origin.git("for-each-ref", CANDIDATE) == ""


@pytest.mark.parametrize("other", ["refs/heads/bernstein", "refs/heads/bernstein/shop-01234567"])
def test_a_branch_that_leaves_ours_no_room_is_told(
    origin: Origin, do_land: Callable[..., LandResult], other: str
) -> None:
    """git has a branch or a folder of one name, and no server says so in words of its own."""
    tip = origin.commit({"a": "1\n"}, ref=TARGET)
    origin.commit({"a": "2\n"}, tip, ref=other)
    sha = origin.commit({"b": "2\n"}, tip, ref=CANDIDATE)
    ours = "bernstein/shop-01234567/x"

    with pytest.raises(PodError, match=f"the server has {other}, beside which") as failed:
        do_land(sha, tip, onto="main", branch=ours, branch_at=None)

    assert failed.value.reason == "BranchTaken"


@pytest.mark.parametrize(
    ("left", "now", "told"),
    [
        (None, "theirs", "somebody else has made refs/heads/bernstein/x: it is at {theirs}"),
        ("ours", "theirs", "bernstein/x was left at {ours}, and is at {theirs}: somebody else"),
        ("ours", None, "bernstein/x was left at {ours}, and is not there: somebody has renamed"),
    ],
    ids=["made", "pushed to", "renamed"],
)
def test_where_a_branch_was_and_what_has_become_of_it_is_told(
    origin: Origin, do_land: Callable[..., LandResult], left: str | None, now: str | None, told: str
) -> None:
    tip = origin.commit({"a": "1\n"}, ref=TARGET)
    sha = origin.commit({"b": "2\n"}, tip, ref=CANDIDATE)
    there = {each: origin.commit({"a": f"{each}\n"}, tip) for each in ("ours", "theirs")}
    ours = "refs/heads/bernstein/x"
    if now is not None:
        origin.git("update-ref", ours, there[now])
    at = there[left] if left is not None else None

    with pytest.raises(PodError) as failed:
        do_land(sha, tip, onto="main", branch=ours, branch_at=at)

    assert failed.value.reason == "BranchTaken"
    assert told.format(**there) in failed.value.message

    # As the remedy has it: once it is where it was left the push goes on.
    origin.git("update-ref", *((ours, at) if at is not None else ("-d", ours)))
    assert do_land(sha, tip, onto="main", branch=ours, branch_at=at).state == "Landed"
    assert origin.tip(ours) == sha
