import json
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tests.answer import Answer, call
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

    async def called(*arguments: str, standard_input: str | None = None) -> Answer:
        given = ("--kubeconfig", kubeconfig, *arguments)
        columns = {"COLUMNS": "200"}
        return await call(*given, environment=columns, standard_input=standard_input)

    return called
