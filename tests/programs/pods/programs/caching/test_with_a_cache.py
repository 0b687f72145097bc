"""A checkout with a cache leaves what one without it does, and fetches less."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from bernstein.pods.errors import PodError
from tests.programs.pods.conftest import Origin
from tests.programs.pods.programs.caching.conftest import Checkouts, packs

Grow = Callable[..., str]


def test_what_the_cache_has_is_not_fetched(checkouts: Checkouts, grow: Grow) -> None:
    grow()
    content = checkouts.fill()
    ours, theirs = checkouts.same(content)
    assert content.pack.name in packs(ours.git_dir)
    assert content.pack.name not in packs(theirs.git_dir)
    counted = ours.text("count-objects", "-v")
    assert f"in-pack: {_objects(theirs.text('count-objects', '-v'))}" in counted


def test_of_a_tip_that_has_moved_only_the_difference_is_fetched(
    checkouts: Checkouts, grow: Grow
) -> None:
    content = checkouts.fill() if grow() else None
    grow(grow(checkouts.origin.tip("main")))
    ours, theirs = checkouts.same(content)
    fetched = [name for name in packs(ours.git_dir) if name.endswith(".pack")]
    assert len(fetched) == 2
    whole = _objects(theirs.text("count-objects", "-v"))
    both = _objects(ours.text("count-objects", "-v"))
    assert both < whole + 8  # a commit, three trees and two files, and the cached commit's own


def _objects(counted: str) -> int:
    (line,) = [each for each in counted.splitlines() if each.startswith("in-pack:")]
    return int(line.split()[1])


def test_work_on_the_cached_commit_has_it_as_its_parent(checkouts: Checkouts, grow: Grow) -> None:
    """Its base is in no ref that was fetched until it is fetched: that is as it was."""
    base = grow(grow())
    content = checkouts.fill()
    sha = grow(base, ref="refs/bernstein/u/s1")
    ours, _ = checkouts.same(content, ref="refs/bernstein/u/s1", sha=sha, base=base)
    assert ours.text("rev-list", "--parents", "-1", sha) == f"{sha} {base}"


def test_a_commit_that_only_the_cache_has_is_not_found(checkouts: Checkouts, grow: Grow) -> None:
    cached = grow()
    content = checkouts.fill()
    assert content.commit == cached
    grow()  # the branch begins anew
    with pytest.raises(PodError) as caught:
        checkouts.run("with", content, also=(cached,))
    assert caught.value.reason == "RefNotFound"
    checkouts.folder.joinpath("with").rename(checkouts.folder / "first")
    checkouts.same(content)


def test_a_ref_that_is_elsewhere_is_told_all_the_same(checkouts: Checkouts, grow: Grow) -> None:
    cached = grow()
    content = checkouts.fill()
    grow(cached)
    with pytest.raises(PodError) as caught:
        checkouts.run("with", content, sha=cached)
    assert caught.value.reason == "RefMoved"


def test_a_whole_history_is_whole(checkouts: Checkouts, grow: Grow) -> None:
    tip = grow(grow(grow()))
    content = checkouts.fill()
    grow(grow(tip))
    checkouts.same(content, history=True)


def test_a_history_beside_the_cached_commit_is_whole_and_does_not_know_it(
    checkouts: Checkouts, grow: Grow
) -> None:
    first = grow()
    grow(first)
    content = checkouts.fill()
    grow(grow(first))  # the branch was forced elsewhere
    checkouts.same(content, history=True)


def test_an_agent_with_some_folders_gets_the_same(checkouts: Checkouts, grow: Grow) -> None:
    grow(grow())
    content = checkouts.fill()
    checkouts.same(content, folders=("src",))
    tree = checkouts.folder / "with" / "workspace"
    assert sorted(path.name for path in tree.iterdir()) == [".git", "run", "src"]
    assert content.pack.name not in packs(tree / ".git")


def test_a_checkpoint_is_gone_on_from(checkouts: Checkouts, grow: Grow, origin: Origin) -> None:
    base = grow(grow())
    content = checkouts.fill()
    sha = grow(base, ref="refs/bernstein/u/s1")
    tip = grow(base)
    checkouts.same(content, sha=tip, resume="refs/bernstein/u/s1", resume_sha=sha)
