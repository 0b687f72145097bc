"""The programs begin, prepare and land, each run in a new pod."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bernstein.api.programs.merge import (
    BeginConfig,
    BeginResult,
    LandConfig,
    LandResult,
    PrepareConfig,
    PrepareResult,
)
from bernstein.pods.programs import begin, land, prepare
from tests.programs.pods.conftest import Origin
from tests.programs.pods.programs.merging.refs import (
    CANDIDATE,
    INTEGRATION,
    SESSION,
    TEXT,
)


@pytest.fixture
def folder(tmp_path: Path) -> Callable[[], str]:
    """Names of fresh folders: every run of a program is a new pod."""
    count = iter(range(1000))
    return lambda: str(tmp_path / f"pod-{next(count)}" / "repo.git")


@pytest.fixture
def do_begin(origin: Origin, folder: Callable[[], str]) -> Callable[..., BeginResult]:
    def run(*, again: bool = False) -> BeginResult:
        remote = origin.remote("work")
        return begin.run(BeginConfig(remote, "main", INTEGRATION, folder(), again))

    return run


@pytest.fixture
def do_prepare(origin: Origin, folder: Callable[[], str]) -> Callable[..., PrepareResult]:
    def run(sha: str, **changes: Any) -> PrepareResult:
        values: dict[str, Any] = {"ref": SESSION, "onto": INTEGRATION, "candidate": CANDIDATE}
        values |= {"remote": origin.remote("work"), "git_dir": folder(), "commit": TEXT}
        return prepare.run(PrepareConfig(**values | {"sha": sha} | changes))

    return run


@pytest.fixture
def do_land(origin: Origin, folder: Callable[[], str]) -> Callable[..., LandResult]:
    def run(sha: str, expect: str | None, **changes: Any) -> LandResult:
        values: dict[str, Any] = {"ref": CANDIDATE, "onto": INTEGRATION, "sha": sha}
        values |= {"tree": origin.tip(f"{sha}^{{tree}}"), "expect": expect}
        values |= {"remote": origin.remote("deliver"), "git_dir": folder()}
        return land.run(LandConfig(**values | changes))

    return run
