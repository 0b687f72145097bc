"""When a refused request is reported."""

from __future__ import annotations

from typing import Any
from unittest.mock import Mock

from bernstein.api.requests import Answer
from bernstein.api.task import TaskStatus
from bernstein.controllers.events import refusals
from tests.unit.core.objects import NOW


def answer(id_: str, says: str, reason: str = "NothingToRetry") -> Answer:
    return Answer.model_validate(
        {"id": id_, "verb": "Retry", "by": "jane", "asked": "again", "answer": says}
        | {"reason": reason, "message": "it prints token=abc", "time": NOW}
    )


def told(before: tuple[Answer, ...] | None, after: tuple[Answer, ...] | None) -> list[str]:
    writer: Any = Mock()
    refusals.tell(writer, {}, TaskStatus(requests=before), TaskStatus(requests=after))
    return [call.kwargs["message"] for call in writer.events.record.call_args_list]


REFUSED = answer("1", "Refused")


def test_a_refusal_is_reported_by_its_reason_alone() -> None:
    assert told(None, (REFUSED,)) == ["Retry is refused: NothingToRetry; status.requests says why"]


def test_it_is_reported_with_the_write_that_answers_and_no_other() -> None:
    assert told((REFUSED,), (REFUSED, answer("2", "Refused", "Cancelled"))) == [
        "Retry is refused: Cancelled; status.requests says why"
    ]
    assert told((REFUSED,), (REFUSED,)) == []
    assert told((REFUSED,), None) == []


def test_what_was_done_is_no_refusal() -> None:
    assert told(None, (answer("1", "Done"),)) == []
