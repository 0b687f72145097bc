from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.programs.llm.asking import Asking
from tests.programs.llm.servers import Scripted


@pytest.fixture
def scripted() -> Iterator[Scripted]:
    with Scripted.running() as server:
        yield server


@pytest.fixture
def caller(tmp_path: Path) -> Asking:
    return Asking(tmp_path / "key")
