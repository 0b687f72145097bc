"""What the engine says where a reconcile keeps failing."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.controllers.engine import tell_failure
from bernstein.kube.errors import Forbidden


class Recorder:
    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []

    def record(self, regarding: Any, **said: Any) -> None:
        self.events.append({"about": regarding["metadata"]["name"], **said})


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ValueError("no such pattern"), "ValueError, see the operator's log"),
        (Forbidden(403, "Forbidden", "jobs is forbidden"), "jobs is forbidden"),
    ],
)
def test_a_failure_that_lasts_is_told_on_the_object_itself(error: Exception, said: str) -> None:
    recorder = Recorder()

    tell_failure(recorder, {"metadata": {"name": "one"}}, error)  # type: ignore[arg-type]

    (event,) = recorder.events
    assert (event["about"], event["reason"], event["warning"]) == ("one", "ReconcileFailed", True)
    assert said in event["message"]


def test_nothing_is_told_of_an_object_that_is_gone() -> None:
    recorder = Recorder()

    tell_failure(recorder, None, ValueError("x"))  # type: ignore[arg-type]

    assert recorder.events == []
