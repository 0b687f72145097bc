"""Program `pusher`: brings the recorder's commits to the session's ref, by compare-and-swap.

It sees neither the agent's tree nor its stream. It takes only packs of bounded size that git's
strict check accepts and that hold exactly one commit on the base, without a secret in what they add
to it. Where a push may or may not have got through (a lost connection, a killed container), it
reads the remote instead of guessing.
"""

from __future__ import annotations

import json
import math
import os
import shutil
import stat
import threading
import time
from pathlib import Path

from bernstein.api.pod import PusherConfig, PusherResult
from bernstein.api.reasons import Reason
from bernstein.core.sessions import trailers
from bernstein.pods import log, sigterm
from bernstein.pods.errors import PodError, Terminated
from bernstein.pods.git import client as git
from bernstein.pods.git.client import Git, GitError
from bernstein.pods.git.errors import unreachable
from bernstein.pods.git.leaks import Leaks
from bernstein.pods.worktree import packs
from bernstein.pods.worktree.packs import PackRecord
from bernstein.urls import host_of

CONFIG = PusherConfig

_POLL_SECONDS = 0.5
_FINAL_WAIT_SECONDS = 30.0
"""How long the pusher waits for the final record after SIGTERM."""
_FINAL_PUSH_SECONDS = 60.0
"""How long after SIGTERM the last push is tried again where the repository cannot be reached."""
_ALL_SECONDS = 85.0
"""How long after SIGTERM it may take in all: of the pod's grace the rest is the recorder's, and
whoever is killed tells nothing. git gives a slow server more."""
_LONGEST_PAUSE_SECONDS = 60.0
_UNREACHABLE = Reason.REPOSITORY_UNREACHABLE
_MAY_PASS = (_UNREACHABLE, Reason.REPOSITORY_AUTH_FAILED, Reason.HOST_KEY_UNTRUSTED)
"""The server does not answer, does not show the repository, or has a new key: it is pushed to
again."""
_STAYS = (Reason.SECRET_FOUND, Reason.SNAPSHOT_TOO_LARGE)
"""What is wrong with the record itself: only a newer one may be pushed."""
_UNCERTAIN = {_UNREACHABLE, Reason.REF_MOVED, "InternalError"}
"""After these reasons the push may have happened: the remote is read."""


def run(config: PusherConfig) -> PusherResult:
    """Push until the final state is out. Raises PodError (CredentialRefused, InvalidPack, ...)."""
    pusher = Pusher(config)
    try:
        return pusher.run(sigterm.awaited(_ALL_SECONDS))
    except Terminated:
        if not pusher.asks:
            text = f"it was not done {_ALL_SECONDS:.0f} s after it was told to end"
            raise PodError("InternalError", text) from None
        host = host_of(config.remote.work_url or config.remote.url)
        raise unreachable(host, f"git push took over {_ALL_SECONDS:.0f} s") from None
    finally:
        sigterm.in_time()


class Pusher:
    """Pushes the newest record again and again, until that is the last one."""

    def __init__(
        self,
        config: PusherConfig,
        final_wait: float = _FINAL_WAIT_SECONDS,
        final_push: float = _FINAL_PUSH_SECONDS,
    ) -> None:
        self._folder = Path(config.packs)
        self._intake = Intake(config)
        self._ref = SessionRef(config)
        self._final_wait = final_wait
        self._final_push = final_push
        self._pushed: PackRecord | None = None
        self._said = ("", "")
        self._done = 0
        self._tried = 0
        self._error: PodError | None = None
        self._failures = 0
        self._next_try = 0.0
        self.asks = False
        """It waits for the git server."""

    def run(self, ended: threading.Event) -> PusherResult:
        """Push records as they come. `ended` is set once the last one is there or will be soon.

        Raises the last PodError when the final state could not be pushed in time.
        """
        closing: float | None = None
        while True:
            number, record = self._newest()
            last = record is not None and (record.final or record.aborted)
            if last or ended.is_set():
                closing = closing or time.monotonic()
            if record and number > self._done and self._is_due(number):
                self._push(number, record)
            if closing is not None:
                if last and number == self._done:
                    return self._result()
                if self._is_over(time.monotonic() - closing, last=last):
                    if self._error:
                        raise self._error
                    return self._result()
            if not ended.wait(_POLL_SECONDS):
                continue
            time.sleep(_POLL_SECONDS / 5)

    def _newest(self) -> tuple[int, PackRecord | None]:
        try:
            return packs.latest(self._folder) or (0, None)
        except PodError as error:
            self._error = error
            return 0, None

    def _is_over(self, waited: float, *, last: bool) -> bool:
        """Whether to give up, `waited` seconds after SIGTERM or the last record.

        `last`: the newest record is the last one. Only a repository that cannot be reached is worth
        another try then.
        """
        if self._error is None:
            return waited > self._final_wait and not last
        hopeless = self._error.reason not in _MAY_PASS
        return waited > (self._final_push if last else self._final_wait) or (last and hopeless)

    def _is_due(self, number: int) -> bool:
        """Whether it is time to push this record; a new record starts without a back-off."""
        if number != self._tried:
            self._tried, self._failures, self._next_try = number, 0, 0.0
        return time.monotonic() >= self._next_try

    def _push(self, number: int, record: PackRecord) -> None:
        try:
            self._intake.take(number, record)
            said = self._intake.said(record)
            self.asks = True
            self._ref.move(record.sha)
            self.asks = False
        except FileNotFoundError:
            return  # the recorder has removed it, for a newer one
        except PodError as error:
            log.event("push-failed", number=number, reason=error.reason, message=error.message)
            self._error, self.asks = error, False
            again = error.reason not in _STAYS
            pause = min(2.0**self._failures, _LONGEST_PAUSE_SECONDS) if again else math.inf
            self._failures += 1
            self._next_try = time.monotonic() + pause
            return
        log.event("pushed", number=number, sha=record.sha, final=record.final)
        self._pushed, self._said, self._done = record, said, number
        self._error = None

    def _result(self) -> PusherResult:
        record = self._pushed
        if record is None:
            base, base_tree = self._intake.base, self._intake.base_tree
            return PusherResult(base, base, base_tree, final=False)
        return PusherResult(record.base, record.sha, record.tree, record.final, *self._said)


class Intake:
    """The pusher's own repository: only packs that pass every check get into it."""

    def __init__(self, config: PusherConfig) -> None:
        base = Git(Path(config.base_git_dir))
        self.base = base.commit_id("HEAD")
        self.base_tree = base.tree_id("HEAD")
        self._git = git.init_bare(Path(config.git_dir), [Path(config.base_git_dir)])
        self._leaks = Leaks(self._git, base, config.remote.credential_dir)
        self._folder = Path(config.packs)
        self._limit = config.pack_bytes
        self._store = Path(config.git_dir) / "objects" / "pack"
        self._store.mkdir(exist_ok=True)

    def take(self, number: int, record: PackRecord) -> None:
        """Bring the record's commit into the repository.

        Raises PodError(InvalidPack) for anything but exactly one commit on the base, SecretFound
        and SnapshotTooLarge as Leaks does, and FileNotFoundError when the pack is gone.
        """
        if record.base != self.base:
            raise PodError("InvalidPack", f"the record is for another base, {record.base[:64]}")
        if record.sha == self.base:
            if record.tree != self.base_tree:
                raise PodError("InvalidPack", "the record names another tree for the base")
            return
        if record.pack is None or Path(record.pack).name != record.pack:
            raise PodError("InvalidPack", "the record names no pack")
        pack = self._copy(self._folder / record.pack, number)
        try:
            self._git.run("index-pack", "--strict", str(pack))
            self._check_commit(record)
            self._leaks.refuse(self.base, record.sha)
        except GitError as error:
            self._drop(pack)
            raise PodError("InvalidPack", f"git refuses the pack: {error.message}") from error
        except PodError:
            self._drop(pack)
            raise
        for other in self._store.glob("incoming-*.pack"):
            if other != pack:
                self._drop(other)

    def said(self, record: PackRecord) -> tuple[str, str]:
        """What the commit that was taken says of the agent's end (`trailers.read`). Only the last
        one of the recorder's own does: whoever wrote the base may have written anything."""
        if not record.final or record.sha == self.base:
            return "", ""
        commit = self._git.run("cat-file", "commit", record.sha)
        return trailers.read(commit.partition(b"\n\n")[2])

    def _copy(self, source: Path, number: int) -> Path:
        target = self._store / f"incoming-{number}.pack"
        self._drop(target)
        try:
            fd = os.open(source, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except FileNotFoundError:
            raise
        except OSError as error:
            raise PodError("InvalidPack", f"{source.name}: {error.strerror}") from error
        with os.fdopen(fd, "rb") as reader:
            st = os.fstat(fd)
            if not stat.S_ISREG(st.st_mode):
                raise PodError("InvalidPack", f"{source.name} is no regular file")
            if st.st_size > self._limit:
                raise PodError(
                    Reason.SNAPSHOT_TOO_LARGE,
                    f"the pack takes {st.st_size} bytes of {self._limit}: "
                    "let .gitignore leave large files out",
                )
            with target.open("wb") as writer:
                shutil.copyfileobj(reader, writer, 1 << 20)
        return target

    def _check_commit(self, record: PackRecord) -> None:
        if not git.is_sha(record.sha) or not git.is_sha(record.tree):
            raise PodError("InvalidPack", "the record holds no full object ids")
        head = self._git.run("cat-file", "commit", record.sha).partition(b"\n\n")[0].split(b"\n")
        tree_and_parent = [f"tree {record.tree}".encode(), f"parent {self.base}".encode()]
        if head[:2] != tree_and_parent or any(line.startswith(b"parent ") for line in head[2:]):
            raise PodError("InvalidPack", f"{record.sha} is not one commit on {self.base}")

    def _drop(self, pack: Path) -> None:
        for suffix in (".pack", ".idx", ".rev"):
            pack.with_suffix(suffix).unlink(missing_ok=True)


class SessionRef:
    """The session's ref on the remote, which nobody else may move.

    What each push is to change is written to a file first, so that a container that is started
    again can tell from the remote whether the last push got through.
    """

    def __init__(self, config: PusherConfig) -> None:
        self._git = Git(Path(config.git_dir), config.remote)
        self._ref = config.ref
        self._intent = Path(config.git_dir) / "push.json"
        self._at: str | None = None
        self._known = not self._intent.exists()

    def move(self, sha: str) -> None:
        """Set the ref to `sha`. Raises GitError; RefMoved when somebody else has moved it."""
        if not self._known:
            self._recover()
        if self._at == sha:
            return
        self._write_intent(sha)
        try:
            self._git.push(self._ref, sha, self._at)
        except GitError as error:
            if error.reason not in _UNCERTAIN:
                raise
            self._settle(sha, error)
        self._at = sha

    def _settle(self, sha: str, error: GitError) -> None:
        """Raise `error` unless the remote shows that the push got through."""
        current = self._git.read_ref(self._ref)
        if current == sha:
            return
        if current != self._at:
            raise self._moved(current) from error
        raise error

    def _recover(self) -> None:
        """Find the ref after a restart of the container: where it was, or where the last push was
        to bring it."""
        intent = json.loads(self._intent.read_bytes())
        current = self._git.read_ref(self._ref)
        if current not in (intent["from"], intent["to"]):
            raise self._moved(current)
        self._at, self._known = current, True

    def _moved(self, current: str | None) -> GitError:
        message = f"{self._ref} is at {current}, where this session did not put it"
        return GitError(Reason.REF_MOVED, message)

    def _write_intent(self, sha: str) -> None:
        temporary = self._intent.with_suffix(".tmp")
        temporary.write_text(json.dumps({"from": self._at, "to": sha}))
        temporary.replace(self._intent)
