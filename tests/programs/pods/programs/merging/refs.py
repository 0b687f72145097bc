"""The refs of one Task and its Plan, and what fails with which reason."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from bernstein.api.programs.commit import CommitText
from bernstein.pods.errors import PodError

TARGET = "refs/heads/main"
INTEGRATION = "refs/bernstein/01234567/integration"
SESSION = "refs/bernstein/01234567/add-api/s1"
CANDIDATE = "refs/bernstein/01234567/add-api/candidate"
TEXT = CommitText("Add the API\n\nBernstein-Task: add-api\n", email="bernstein@example.com")


def reason(action: Callable[[], object]) -> str:
    with pytest.raises(PodError) as raised:
        action()
    return raised.value.reason
