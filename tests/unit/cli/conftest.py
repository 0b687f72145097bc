import asyncio
import json
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from bernstein.cli.main import app
from tests.answer import Answer
from tests.unit.cli.calls import BROKEN
from tests.unit.core.plans.plan_files import RATE_LIMIT
from tests.unit.kube.apiserver import ApiServer


@pytest.fixture
def runner() -> CliRunner:
    return CliRunner(env={"COLUMNS": "200"})


@pytest.fixture
def broken(tmp_path: Path) -> str:
    path = tmp_path / "broken.yaml"
    path.write_text(BROKEN)
    return str(path)


@pytest.fixture
def good(tmp_path: Path) -> str:
    path = tmp_path / "good.yaml"
    path.write_text(RATE_LIMIT)
    return str(path)


Bernstein = Callable[..., Coroutine[Any, Any, Answer]]


@pytest.fixture
def kubeconfig(api: ApiServer, tmp_path: Path) -> str:
    """That of the API server in memory, in namespace `team`."""
    path = tmp_path / "kubeconfig-of-the-api"
    path.write_text(
        json.dumps(
            {
                "apiVersion": "v1",
                "kind": "Config",
                "current-context": "c",
                "contexts": [
                    {"name": "c", "context": {"cluster": "c", "user": "u", "namespace": "team"}}
                ],
                "clusters": [{"name": "c", "cluster": {"server": api.url}}],
                "users": [{"name": "u", "user": {"token": "t"}}],
            }
        )
    )

    return str(path)


@pytest.fixture
def bernstein(kubeconfig: str) -> Bernstein:
    """Calls the program with the API server in memory as its cluster."""

    async def call(*arguments: str, standard_input: str | None = None) -> Answer:
        runner = CliRunner(env={"COLUMNS": "200"})
        given = ["--kubeconfig", kubeconfig, *arguments]
        done = await asyncio.to_thread(runner.invoke, app, given, input=standard_input)
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            raise done.exception
        return Answer(done.exit_code, done.stdout, done.stderr)

    return call
