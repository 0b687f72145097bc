"""The span of a Job."""

from typing import Any

import pytest

from bernstein.core import labels
from bernstein.core.traces.job import Owner, of_job
from bernstein.core.traces.span import span_id, trace_id
from tests.unit.core.objects import at
from tests.unit.core.traces.histories import told

OWNER = Owner("uid-work-s1", trace_id("plan"))


def job(*conditions: dict[str, Any], begun: str | None = "2030-01-01T12:00:00Z") -> dict[str, Any]:
    status: dict[str, Any] = {"conditions": [*conditions]}
    if begun is not None:
        status["startTime"] = begun
    own = {labels.JOB: "check", labels.CHECK: "lint", labels.PROJECT: "default"}
    meta = {"name": "work-s1-lint-1", "namespace": "team", "uid": "uid-job", "labels": own}
    return {"metadata": meta, "status": status}


def condition(type_: str, status: str = "True", reason: str = "") -> dict[str, Any]:
    when = "2030-01-01T12:00:09Z"
    return {"type": type_, "status": status, "reason": reason, "lastTransitionTime": when}


def test_it_is_part_of_whom_it_was_made_for_and_has_the_jobs_own_times() -> None:
    (span,) = of_job(job(condition("Complete")), OWNER)

    assert (span.name, span.start, span.end) == ("job check", at(0), at(9))
    assert (span.trace_id, span.parent_id) == (OWNER.trace, span_id(OWNER.uid))
    assert (told(span)["bernstein.check"], span.error) == ("lint", None)


def test_one_that_failed_has_kubernetes_own_word() -> None:
    (span,) = of_job(job(condition("Failed", reason="DeadlineExceeded")), OWNER)

    assert span.error == "DeadlineExceeded"


@pytest.mark.parametrize(
    "going", [job(), job(condition("Failed", "False")), job(condition("Complete"), begun=None)]
)
def test_one_that_has_not_finished_or_never_began_is_no_span(going: dict[str, Any]) -> None:
    assert of_job(going, OWNER) == []
