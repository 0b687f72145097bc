"""A recorder beside an agent that the test plays."""

from __future__ import annotations

import dataclasses
import json
import threading
from pathlib import Path
from typing import Any

from bernstein import agents
from bernstein.api.pod import RecorderResult
from bernstein.pods.errors import PodError
from bernstein.pods.programs import recorder
from bernstein.pods.worktree import packs
from tests.background import wait_for
from tests.programs.pods.agent_pod import Volumes

BASE: dict[str, bytes | str] = {"a.py": "a = 1\n", "README.md": "read me\n"}

FAST: Any = 0.1
"""Seconds; whole numbers in a real configuration."""


def line(**record: object) -> str:
    return json.dumps(record) + "\n"


class Run:
    """A recorder in a thread; the test writes worktree and stream."""

    def __init__(self, folder: Path, base: dict[str, bytes | str] = BASE) -> None:
        self.volumes = Volumes(folder)
        self.base = self.volumes.start_from(base)
        self.config = self.volumes.recorder_config(checkpoint_seconds=0)
        self.ended = threading.Event()
        self.snapshots = 0
        self.outcome: RecorderResult | BaseException | None = None
        self.thread: threading.Thread | None = None

    def start(self, **changes: Any) -> None:
        self.config = dataclasses.replace(self.config, **changes)
        self.thread = threading.Thread(target=self._run)
        self.thread.start()

    def _run(self) -> None:
        parser = agents.get(self.config.adapter).parser()
        try:
            beside = recorder.Recorder(self.config, parser)
            try:
                self._count_snapshots(beside)
                self.outcome = beside.run(self.ended)
            finally:
                beside.close()
        except BaseException as error:  # noqa: BLE001 - the test looks at it
            self.outcome = error

    def _count_snapshots(self, beside: recorder.Recorder) -> None:
        checkpoint = beside._checkpoint

        def counted() -> None:
            checkpoint()
            self.snapshots += 1

        beside._checkpoint = counted  # type: ignore[method-assign]

    def end(self) -> RecorderResult:
        """As the kubelet ends it; returns the result."""
        self.stop()
        assert isinstance(self.outcome, RecorderResult), repr(self.outcome)
        return self.outcome

    def fail(self) -> PodError:
        self.stop()
        assert isinstance(self.outcome, PodError), repr(self.outcome)
        return self.outcome

    def stop(self) -> None:
        self.ended.set()
        if self.thread is not None:
            self.thread.join(60)
            assert not self.thread.is_alive()

    def say(self, text: str) -> None:
        with (self.volumes.stream / "stdout.log").open("a") as file:
            file.write(text)

    def latest(self) -> packs.PackRecord | None:
        found = packs.latest(self.volumes.packs)
        return found[1] if found else None

    @property
    def stop_file(self) -> Path:
        return self.volumes.control / "stop"


def wait_for_snapshots(run: Run, count: int) -> None:
    """Until that many have been taken from now on, and the stream was read before each."""
    seen = run.snapshots
    wait_for(lambda: run.snapshots > seen + count)
