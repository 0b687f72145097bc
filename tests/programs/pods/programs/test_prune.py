"""prune against a real server: it deletes what it is told of, where that was left, and nothing
else."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import pytest

from bernstein.api.programs.prune import PruneConfig, PruneResult, RefAt
from bernstein.api.reasons import Reason
from bernstein.pods.errors import PodError
from bernstein.pods.git.client import Git
from bernstein.pods.programs import prune
from tests.programs.pods.conftest import Origin

FOLDER = "refs/bernstein/0f3c5a7e9b1d2c4f"
FIRST, SECOND = f"{FOLDER}/web--build/s1", f"{FOLDER}/integration"


def run(origin: Origin, folder: Path, *refs: tuple[str, str], user: str = "work") -> PruneResult:
    told = tuple(RefAt(ref, sha) for ref, sha in refs)
    return prune.run(PruneConfig(origin.remote(user), told, str(folder / "own.git")))


def refs(origin: Origin) -> set[str]:
    return set(origin.git("for-each-ref", "--format=%(refname)").splitlines())


def test_deletes_refs_where_they_were_left_and_a_repeat_finds_them_gone(
    origin: Origin, tmp_path: Path
) -> None:
    one, two = origin.commit({"a": "1\n"}, ref=FIRST), origin.commit({"b": "2\n"}, ref=SECOND)
    others = refs(origin) - {FIRST, SECOND}

    result = run(origin, tmp_path, (FIRST, one), (SECOND, two))

    assert result == PruneResult("dd")
    assert refs(origin) == others
    assert run(origin, tmp_path / "again", (FIRST, one), (SECOND, two)) == PruneResult("gg")


def test_a_ref_that_has_moved_stays_and_the_others_go_all_the_same(
    origin: Origin, tmp_path: Path
) -> None:
    left, two = origin.commit({"a": "1\n"}, ref=FIRST), origin.commit({"b": "2\n"}, ref=SECOND)
    moved = origin.commit({"a": "2\n"}, left, ref=FIRST)

    assert run(origin, tmp_path, (FIRST, left), (SECOND, two)) == PruneResult("md")
    assert origin.tip(FIRST) == moved


@pytest.mark.parametrize("what", ["moved", "deleted"])
def test_a_job_that_pushes_between_the_look_and_the_deletion_keeps_what_it_has_pushed(
    origin: Origin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    left, two = origin.commit({"a": "1\n"}, ref=FIRST), origin.commit({"b": "2\n"}, ref=SECOND)
    newer = origin.commit({"a": "2\n"}, left)
    delete = Git.delete

    def late(repository: Git, asked: dict[str, str]) -> None:
        origin.git("update-ref", *(("-d", FIRST) if what == "deleted" else (FIRST, newer)))
        delete(repository, asked)

    monkeypatch.setattr(Git, "delete", late)

    result = run(origin, tmp_path, (FIRST, left), (SECOND, two))

    assert SECOND not in refs(origin)
    if what == "deleted":
        assert (result.outcomes, FIRST in refs(origin)) == ("dd", False)
    else:
        assert (result.outcomes, origin.tip(FIRST)) == ("md", newer)


def test_thousands_of_refs_of_a_session_are_looked_at_by_nobody(
    origin: Origin, tmp_path: Path
) -> None:
    """Whoever may push there may make refs beside, and call them as he likes."""
    sha = origin.commit({"a": "1\n"}, ref=FIRST)
    lines = [f"create {FIRST}{n} {sha}" for n in range(3000)]
    lines += [f"create refs/heads/{SECOND} {sha}", f"create refs/bernstein/{FIRST} {sha}"]
    origin.git("update-ref", "--stdin", input="".join(f"{line}\n" for line in lines).encode())
    before = refs(origin)

    assert run(origin, tmp_path, (FIRST, sha), (SECOND, sha)) == PruneResult("dg")
    assert refs(origin) == before - {FIRST}


def test_a_tag_of_the_same_name_keeps_one_ref_and_not_the_others(
    origin: Origin, tmp_path: Path
) -> None:
    """git takes either for what is meant, and gives up."""
    others = [(f"{FOLDER}/task-{n}/s1", origin.commit({"a": f"{n}\n"})) for n in range(5)]
    for ref, sha in others:
        origin.git("update-ref", ref, sha)
    left = origin.commit({"a": "1\n"}, ref=FIRST)
    origin.git("update-ref", f"refs/tags/{FIRST}", left)

    result = run(origin, tmp_path, *others[:2], (FIRST, left), *others[2:])

    assert (result.outcomes, result.reason) == ("ddrddd", "PushRejected")
    assert origin.tip(FIRST) == left


@pytest.mark.parametrize(
    "ref",
    [
        "refs/heads/main",
        "refs/heads/bernstein/web-0f3c5a7e",
        "refs/tags/v1",
        "refs/bernstein/attestations/0f3c5a7e",
        "refs/bernstein/integration",
        f"{FOLDER}/../attestations/x",
        "main",
    ],
)
def test_what_is_no_ref_of_a_plan_or_task_is_refused_and_nothing_is_deleted(
    origin: Origin, tmp_path: Path, ref: str
) -> None:
    sha = origin.commit({"a": "1\n"}, ref=FIRST)

    with pytest.raises(PodError) as refused:
        run(origin, tmp_path, (FIRST, sha), (ref, sha))

    assert refused.value.reason == "InvalidConfig"
    assert origin.tip(FIRST) == sha


def test_where_the_server_refuses_deletions_all_stay_and_it_says_so(
    origin: Origin, tmp_path: Path
) -> None:
    hook = origin.path / "hooks" / "pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    sha = origin.commit({"a": "1\n"}, ref=FIRST)

    result = run(origin, tmp_path, (FIRST, sha))

    assert (result.outcomes, result.reason) == ("r", Reason.BRANCH_PROTECTED)
    assert origin.tip(FIRST) == sha


def test_an_account_that_may_not_push_deletes_nothing(origin: Origin, tmp_path: Path) -> None:
    sha = origin.commit({"a": "1\n"}, ref=FIRST)

    result = run(origin, tmp_path, (FIRST, sha), user="read")

    assert (result.outcomes, result.reason) == ("r", Reason.CREDENTIAL_REFUSED)
    assert origin.tip(FIRST) == sha


def test_what_fifty_refs_came_to_fits_the_last_words_of_a_container() -> None:
    result = PruneResult("r" * 50, Reason.PUSH_REJECTED, "x" * 500)
    assert sum(len(str(each)) for each in asdict(result).values()) < 1000
