"""The page on traces names every attribute that a span has, and no other."""

from __future__ import annotations

import re

import pytest

from bernstein.api.meta import UsageCounts
from bernstein.api.verification import ModelCalls
from bernstein.controllers.traces.sender import MOST_AT_ONCE, MOST_WAITING
from bernstein.core import labels
from bernstein.core.traces.job import Owner, of_job
from bernstein.core.traces.plan import of_plan
from bernstein.core.traces.session import of_session
from bernstein.core.traces.span import MOST_CHARACTERS, Span, trace_id
from bernstein.core.traces.task import of_task
from tests.unit.core.objects import verification
from tests.unit.core.traces.histories import check, closed_task, ended_plan, run
from tests.unit.docs.pages import ROOT

PAGE = (ROOT / "docs" / "how-to" / "trace.md").read_text()
EVERYWHERE = "k8s.namespace.name"
_USAGE = UsageCounts(input=1, output=1, cache_read=1, cache_write=1)
_ATTRIBUTE = re.compile(r"`((?:bernstein|gen_ai|k8s|vcs|error)\.[\w.]+)`")


def rows() -> dict[str, set[str]]:
    """The table: by the first word of a span's name its attributes."""
    found = re.findall(r"^\| `([a-z_]+)(?: …)?` \| (.*) \|$", PAGE, re.MULTILINE)
    return {name: set(_ATTRIBUTE.findall(cells)) for name, cells in found}


def everything() -> list[Span]:
    """Spans with all that they can have."""
    call = ModelCalls(job="j", model="m", usage=_USAGE)
    judged = verification(
        passed=False,
        checks=[check("a"), check("b", "Failed")],
        quality_score=50,
        calls=[call],
    )
    task = closed_task(repo="app")
    rejected = task.status.model_copy(update={"verification": judged})
    job = {
        "metadata": {
            "name": "j",
            "namespace": "team",
            "uid": "u",
            "labels": dict.fromkeys(
                (labels.JOB, labels.CHECK, labels.REPOSITORY, labels.PROJECT), "x"
            ),
        },
        "status": {
            "startTime": "2030-01-01T12:00:00Z",
            "conditions": [
                {
                    "type": "Complete",
                    "status": "True",
                    "lastTransitionTime": "2030-01-01T12:00:09Z",
                }
            ],
        },
    }
    return [
        *of_plan(ended_plan()),
        *of_task(task),
        *of_task(task.model_copy(update={"status": rejected})),
        *of_session(run()),
        *of_session(run(reason="AgentFailed")),
        *of_job(job, Owner("u", trace_id("u"))),
    ]


SHARED = {"bernstein.task.name", "bernstein.plan.name", "bernstein.repository"}
"""Said in words where it is of the Task or Plan that a span belongs to."""
NOT_HERE = {"bernstein.delivery.pull_request", "k8s.pod.name"}
"""Of which these objects have none."""


@pytest.mark.parametrize(
    "name", ["plan", "task", "state", "invoke_agent", "verify", "chat", "land", "job"]
)
def test_each_span_has_the_attributes_that_its_row_names(name: str) -> None:
    spans = [span for span in everything() if span.name.split()[0] == name]
    found = {key for span in spans for key, _ in span.attributes} - {EVERYWHERE}
    told = rows()[name]
    if name == "chat":
        told = told | {key for key in found if key.startswith("gen_ai.")}
    if name in ("chat", "verify", "land"):
        found, told = found - SHARED, told - SHARED

    assert found == told - NOT_HERE


def test_the_page_has_a_row_for_each_span_and_no_other() -> None:
    names = {span.name.split()[0] for span in everything()}
    assert names == rows().keys() & names == set(rows()) - {"tracing"}


def test_its_numbers_are_those_of_the_code() -> None:
    assert f"each cut to {MOST_CHARACTERS} characters" in PAGE
    assert f"at most\n{MOST_WAITING:,} of them" in PAGE
    assert f"at most {MOST_AT_ONCE} spans in a request" in PAGE
