"""Of a large repository only some folders are checked out; what the commit has elsewhere stays."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bernstein.api.pod import CheckoutConfig, PusherConfig
from bernstein.pods.errors import PodError
from bernstein.pods.programs import checkout
from bernstein.pods.programs.pusher import Intake
from bernstein.pods.worktree.checkpoints import Checkpoints
from tests.programs.pods.agent_pod import Volumes, write
from tests.programs.pods.conftest import Origin
from tests.programs.pods.programs.pusher.session import REF
from tests.programs.pods.programs.test_checkout import files, plain_git

FOLDERS = ("services/billing",)
TREE: dict[str, bytes | str | None] = {
    "go.mod": "module example\n",
    "services/shared.go": "package services\n",
    "services/billing/main.go": "package main\n",
    "services/billing/deep/er.go": "package deep\n",
    "services/mail/main.go": "package main // mail\n",
    "web/index.html": "<html>\n",
    "web/link": "->index.html",
    "vendored": "!" + "1" * 40,
    "third/party": "!" + "2" * 40,
}
HELD = {
    "go.mod",
    "services/shared.go",
    "services/billing/main.go",
    "services/billing/deep/er.go",
}


@pytest.fixture
def tip(origin: Origin) -> str:
    return origin.commit(TREE, ref="refs/heads/main")


@pytest.fixture
def pod(origin: Origin, tip: str, volumes: Volumes) -> Volumes:
    """An agent's pod after its checkout."""
    checkout.run(config(origin, volumes))
    return volumes


def config(origin: Origin, volumes: Volumes, **more: Any) -> CheckoutConfig:
    return CheckoutConfig(
        remote=origin.remote(),
        ref="refs/heads/main",
        git_dir=str(volumes.base_git_dir),
        worktree=str(volumes.worktree),
        worktree_git=True,
        folders=FOLDERS,
        **more,
    )


@contextmanager
def recorder(volumes: Volumes) -> Iterator[Checkpoints]:
    work = Checkpoints(volumes.recorder_config(folders=FOLDERS))
    try:
        yield work
    finally:
        work.close()


def changed(work: Checkpoints) -> set[str]:
    """Paths that differ from the base in the last commit, as git tells them."""
    repository = work.objects._git
    listing = repository.run(
        "diff-tree", "-r", "--name-only", work.objects.base.sha, work.commit.sha
    )
    return {*listing.decode().split()}


def test_only_the_folders_are_written_with_the_files_beside_and_above(pod: Volumes) -> None:
    assert {name for name in files(pod.worktree) if not name.endswith("/")} == HELD


def test_git_of_the_agent_takes_the_rest_for_left_out_and_not_for_removed(pod: Volumes) -> None:
    tree = pod.worktree
    assert plain_git(tree, "status", "--porcelain") == ""
    before = plain_git(tree, "ls-tree", "-r", "HEAD", "--", "web", "services/mail", "third")
    write(tree, {"services/billing/new.go": "package main\n"})
    plain_git(tree, "add", "--all")
    plain_git(tree, "-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-q", "-m", "more")
    assert plain_git(tree, "diff", "--name-only", "HEAD^", "HEAD") == "services/billing/new.go"
    after = plain_git(tree, "ls-tree", "-r", "HEAD", "--", "web", "services/mail", "third")
    assert after == before
    plain_git(tree, "reset", "-q", "--hard", "HEAD^")
    assert {name for name in files(tree) if not name.endswith("/")} == HELD


def test_its_git_has_the_contents_of_the_folders_alone(pod: Volumes, origin: Origin) -> None:
    listing = plain_git(
        pod.worktree, "cat-file", "--batch-all-objects", "--batch-check=%(objectname)"
    )
    assert origin.tip("refs/heads/main:services/billing/main.go") in listing
    assert origin.tip("refs/heads/main:web/index.html") not in listing


def test_nothing_changed_is_the_base_itself(pod: Volumes, tip: str) -> None:
    with recorder(pod) as work:
        work.checkpoint(final=True)
        assert work.commit.sha == tip


def test_what_lies_elsewhere_stays_in_the_commit_and_the_pusher_takes_it(
    pod: Volumes, origin: Origin
) -> None:
    (pod.worktree / "services/billing/main.go").unlink()
    write(pod.worktree, {"services/billing/new.go": "package main\n", "go.mod": "module two\n"})
    with recorder(pod) as work:
        work.checkpoint(final=True)
        assert changed(work) == {"services/billing/main.go", "services/billing/new.go", "go.mod"}
        assert work.record is not None
        intake = Intake(
            PusherConfig(
                remote=origin.remote("work"),
                ref=REF,
                base_git_dir=str(pod.base_git_dir),
                git_dir=str(pod.pusher_git_dir),
                packs=str(pod.packs),
            )
        )
        intake.take(1, work.record)


def test_a_new_file_elsewhere_is_recorded(pod: Volumes) -> None:
    write(pod.worktree, {"web/new.html": "<p>\n", "tools/x/y": "1\n"})
    with recorder(pod) as work:
        work.checkpoint(final=True)
        assert changed(work) == {"web/new.html", "tools/x/y"}


def test_a_copy_of_what_was_left_out_is_recorded(pod: Volumes) -> None:
    """Its contents are known to the base alone."""
    write(pod.worktree, {"services/billing/copy.html": "<html>\n"})
    with recorder(pod) as work:
        work.checkpoint(final=True)
        assert changed(work) == {"services/billing/copy.html"}


@pytest.mark.parametrize(
    ("left", "named"),
    [
        ({"web/index.html": "mine\n"}, "web/index.html"),
        ({"web/index.html": "<html>\n"}, "web/index.html"),
        ({"web": "a file\n"}, "web"),
        ({"web": "->services"}, "web"),
        ({"web/link/below": "1\n"}, "web/link"),
        ({"third/party/file": "1\n"}, "third/party"),
    ],
)
def test_what_would_replace_something_unseen_is_refused_and_named(
    pod: Volumes, left: dict[str, bytes | str], named: str
) -> None:
    write(pod.worktree, {"services/billing/new.go": "package main\n"})
    with recorder(pod) as work:
        work.checkpoint(final=False)
        before = work.commit
        write(pod.worktree, left)
        with pytest.raises(PodError) as raised:
            work.checkpoint(final=True)
        assert raised.value.reason == "OutsideCheckout"
        assert raised.value.message.startswith(f"{named}: ")
        assert work.commit == before, "the checkpoint before stays"


def test_a_folder_above_in_whose_place_a_file_is_put_is_refused(pod: Volumes) -> None:
    (pod.worktree / "services").rename(pod.root / "away")
    write(pod.worktree, {"services": "1\n"})
    with recorder(pod) as work, pytest.raises(PodError, match=r": services: "):
        work.checkpoint(final=True)


def test_a_folder_that_is_removed_takes_nothing_else_with_it(pod: Volumes) -> None:
    (pod.worktree / "services").rename(pod.root / "away")
    with recorder(pod) as work:
        work.checkpoint(final=True)
        assert changed(work) == {name for name in HELD if name.startswith("services/")}


@pytest.mark.parametrize("moved", [False, True])
def test_a_checkpoint_with_a_new_file_elsewhere_is_gone_on_from(
    origin: Origin, tip: str, volumes: Volumes, moved: bool
) -> None:
    ref = "refs/bernstein/0/t/s1"
    origin.commit({"web/new.html": "<p>\n"}, tip, ref=ref)
    if moved:
        origin.commit({"web/other.html": "<b>\n"}, tip, ref="refs/heads/main")
    checkout.run(config(origin, volumes, resume=ref))
    written = {name for name in files(volumes.worktree) if not name.endswith("/")}
    assert written == HELD | {"web/new.html"}
    assert plain_git(volumes.worktree, "status", "--porcelain", "-uall") == "?? web/new.html"
    with recorder(volumes) as work:
        work.checkpoint(final=True)
        assert changed(work) == {"web/new.html"}


def test_a_checkpoint_of_a_session_that_had_more_is_not_gone_on_from(
    origin: Origin, tip: str, volumes: Volumes
) -> None:
    ref = "refs/bernstein/0/t/s1"
    origin.commit({"web/index.html": "mine\n"}, tip, ref=ref)
    checkout.run(config(origin, volumes, resume=ref))
    assert {name for name in files(volumes.worktree) if not name.endswith("/")} == HELD


def test_a_folder_that_is_not_there_yet_holds_nothing(
    origin: Origin, tip: str, volumes: Volumes
) -> None:
    checkout.run(replace(config(origin, volumes), folders=("lib/new",)))
    assert {name for name in files(volumes.worktree) if not name.endswith("/")} == {"go.mod"}


def test_without_folders_all_of_it_is_written(
    origin: Origin, tip: str, volumes: Volumes, tmp_path: Path
) -> None:
    checkout.run(replace(config(origin, volumes), folders=()))
    assert "web/index.html" in files(volumes.worktree)


def test_the_worktree_may_be_on_another_volume_than_our_repository(
    origin: Origin, tip: str, volumes: Volumes
) -> None:
    """As it is in pods."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as other:
        worktree = Path(other) / "workspace"
        checkout.run(replace(config(origin, volumes), worktree=str(worktree)))

        assert files(worktree).keys() >= HELD
        assert plain_git(worktree, "log", "--format=%H", "-1").strip() == tip
