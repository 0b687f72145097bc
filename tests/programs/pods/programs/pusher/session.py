"""The pusher between a recorder's packs and a real git server."""

from __future__ import annotations

import dataclasses
import shutil
import threading
from pathlib import Path
from typing import Any

from bernstein.api.pod import CheckoutConfig, PusherConfig, PusherResult
from bernstein.pods.errors import PodError
from bernstein.pods.programs import checkout, pusher
from bernstein.pods.worktree import packs
from bernstein.pods.worktree.objects import Commit
from tests.programs.pods.agent_pod import Taker, Volumes, write
from tests.programs.pods.conftest import Origin

REF = "refs/bernstein/01234567/task/s1"


class Session:
    """The volumes of one session, a recorder's hands and a pusher in a thread."""

    def __init__(self, folder: Path, origin: Origin, checked_out: Volumes) -> None:
        self.origin = origin
        self.volumes = Volumes(folder)
        self.volumes.packs.mkdir()
        shutil.copytree(checked_out.base, self.volumes.base, dirs_exist_ok=True)
        shutil.copytree(checked_out.worktree, self.volumes.worktree, dirs_exist_ok=True)
        self.base = origin.tip("refs/heads/main")
        self.taker = Taker(self.volumes)
        self.number = 0
        self.config = PusherConfig(
            remote=origin.remote("work"),
            ref=REF,
            base_git_dir=str(self.volumes.base_git_dir),
            git_dir=str(self.volumes.pusher_git_dir),
            packs=str(self.volumes.packs),
        )
        self.ended = threading.Event()
        self.thread: threading.Thread | None = None
        self.outcome: PusherResult | BaseException | None = None

    def record(self, files: dict[str, bytes | str], *, final: bool = False) -> Commit:
        """What a recorder does at a checkpoint."""
        write(self.volumes.worktree, files)
        commit = self.taker.take()
        pack = None if commit == self.taker.objects.base else self.taker.objects.pack(commit)
        self.publish(commit.sha, commit.tree, pack, final=final)
        return commit

    def publish(
        self, sha: str, tree: str, pack: Path | None, *, final: bool = False, base: str = ""
    ) -> None:
        self.number += 1
        record = packs.PackRecord(base or self.base, sha, tree, final, None)
        packs.publish(self.volumes.packs, self.number, record, pack)

    def start(self, **changes: Any) -> None:
        limits = {k: changes.pop(k) for k in ("final_wait", "final_push") if k in changes}
        self.config = dataclasses.replace(self.config, **changes)

        def run() -> None:
            try:
                self.outcome = pusher.Pusher(self.config, **limits).run(self.ended)
            except BaseException as error:  # noqa: BLE001 - the test looks at it
                self.outcome = error

        self.thread = threading.Thread(target=run)
        self.thread.start()

    def wait(self) -> PusherResult | BaseException | None:
        if self.thread is not None:
            self.thread.join(60)
            assert not self.thread.is_alive()
        return self.outcome

    def result(self) -> PusherResult:
        outcome = self.wait()
        assert isinstance(outcome, PusherResult), repr(outcome)
        return outcome

    def failure(self) -> PodError:
        outcome = self.wait()
        assert isinstance(outcome, PodError), repr(outcome)
        return outcome

    def tip(self) -> str | None:
        found = self.origin.git("for-each-ref", "--format=%(objectname)", REF)
        return found or None


def checked_out(origin: Origin, folder: Path) -> Volumes:
    """Volumes as the pod's checkout leaves them."""
    volumes = Volumes(folder / "pod")
    base, tree = str(volumes.base_git_dir), str(volumes.worktree)
    checkout.run(CheckoutConfig(origin.remote("read"), "main", base, worktree=tree))
    return volumes
