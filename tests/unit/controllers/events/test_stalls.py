"""When a stall is reported."""

from __future__ import annotations

from typing import Any
from unittest.mock import Mock

import pytest

from bernstein.api.task import TaskStatus
from bernstein.api.waiting import Waiting
from bernstein.controllers.events import stalls
from tests.unit.core.waits import waits


def told(before: Waiting | None, after: Waiting | None) -> list[str]:
    """The reasons of the Events."""
    writer: Any = Mock()
    old, new = TaskStatus(waiting=before), TaskStatus(waiting=after)
    stalls.tell(writer, "task", {}, old, new, judged=None, uid="u")
    return [call.kwargs["reason"] for call in writer.events.record.call_args_list]


MISSING = waits("SecretNotFound", 'secret "a" not found', needs_person=True)
PASSES = waits("RateLimited", "slow down")


@pytest.mark.parametrize("before", [None, PASSES, waits("ImagePullFailed", needs_person=True)])
def test_a_stall_is_reported_when_it_begins_or_its_cause_changes(before: Waiting | None) -> None:
    assert told(before, MISSING) == ["SecretNotFound"]


def test_a_stall_that_is_tried_again_in_other_words_is_not_reported_again() -> None:
    assert told(waits("SecretNotFound", "pod x-s2", needs_person=True), MISSING) == []


@pytest.mark.parametrize("after", [None, PASSES])
def test_what_passes_is_no_stall(after: Waiting | None) -> None:
    assert told(MISSING, after) == []
