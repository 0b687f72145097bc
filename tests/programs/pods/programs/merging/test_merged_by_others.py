"""land that looks for what people have merged, against a real server: by git alone, whatever the
forge says."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from bernstein.api.programs.merge import LandResult
from tests.programs.pods.conftest import Origin
from tests.programs.pods.programs.merging.refs import TARGET, reason

pytestmark = pytest.mark.verification
HEAD = "refs/pull/7/head"
Files = dict[str, bytes | str | None]
Land = Callable[..., LandResult]


class Proposed:
    """Two commits on the branch, whose tip people have moved since."""

    def __init__(self, origin: Origin) -> None:
        self.origin = origin
        self.base = origin.commit({"a": "1\n2\n3\n", "b": "1\n"})
        first = origin.commit({"a": "1\nours\n3\n"}, self.base)
        self.sha = origin.commit({"c": "ours\n"}, first, ref=HEAD)
        self.moved = origin.commit({"b": "theirs\n"}, self.base, ref=TARGET)

    def puts(self, *changes: Files, parent: str = "") -> str:
        """Commits on the branch, one after another."""
        at = parent or self.moved
        for files in changes:
            at = self.origin.commit(files, at, ref=TARGET)
        return at


@pytest.fixture
def proposed(origin: Origin) -> Proposed:
    return Proposed(origin)


FIRST: Files = {"a": "1\nours\n3\n"}
SECOND: Files = {"c": "ours\n"}
WHOLE: Files = {**FIRST, **SECOND}
LATER: Files = {"a": "1\nours\n3\nlater\n"}
BACK: Files = {"a": "1\n2\n3\n", "c": None}


@pytest.mark.parametrize(
    ("changes", "state"),
    [
        ((WHOLE,), "Landed"),
        ((FIRST, SECOND), "Landed"),
        ((WHOLE, LATER, {"c": "later\n"}), "Landed"),
        ((WHOLE, BACK), "Landed"),
        ((), "Moved"),
        ((FIRST,), "Moved"),
        (({"d": "somebody's choosing\n"},), "Moved"),
        (({"a": "1\nother\n3\n", "c": "ours\n"},), "Moved"),
    ],
    ids=[
        *("squash", "rebase", "squash and more", "squash that was taken back"),
        *("nothing", "a part", "another change", "another line"),
    ],
)
def test_the_same_change_in_other_commits_counts_and_nothing_less(
    do_land: Land, proposed: Proposed, changes: tuple[Files, ...], state: str
) -> None:
    tip = proposed.puts(*changes)

    said = do_land(proposed.sha, None, ref=HEAD, onto=TARGET, by_others=True)

    assert (said.state, said.tip, said.attestation) == (state, tip, "")
    assert proposed.origin.tip(TARGET) == tip


def test_a_merge_of_it_counts_though_nobody_keeps_its_ref(
    origin: Origin, do_land: Land, proposed: Proposed
) -> None:
    tip = origin.commit(WHOLE, proposed.moved, proposed.sha, ref=TARGET)
    origin.git("update-ref", "-d", HEAD)

    said = do_land(proposed.sha, None, ref=HEAD, onto=TARGET, by_others=True)

    assert (said.state, said.tip) == ("Landed", tip)


def test_where_nobody_has_it_any_more_that_is_told(
    origin: Origin, do_land: Land, proposed: Proposed
) -> None:
    origin.git("update-ref", HEAD, proposed.base)

    assert (
        reason(lambda: do_land(proposed.sha, None, ref=HEAD, onto=TARGET, by_others=True))
        == "RefNotFound"
    )


def test_a_branch_of_another_history_has_nothing_of_it(
    origin: Origin, do_land: Land, proposed: Proposed
) -> None:
    tip = origin.commit({"a": "1\nours\n3\n", "c": "ours\n", "b": "1\n"}, ref=TARGET)

    said = do_land(proposed.sha, None, ref=HEAD, onto=TARGET, by_others=True)

    assert (said.state, said.tip) == ("Moved", tip)


def test_who_looks_for_our_own_push_takes_no_other_commit_for_it(
    do_land: Land, proposed: Proposed
) -> None:
    proposed.puts(WHOLE)

    assert do_land(proposed.sha, None, ref=HEAD, onto=TARGET).state == "Moved"
