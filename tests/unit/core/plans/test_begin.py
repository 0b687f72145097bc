"""The Job that makes a Plan's integration ref, and what it may believe."""

from __future__ import annotations

import pytest

from bernstein.core.actions import RunBegin
from bernstein.core.reasons import PROBE_SECONDS
from tests.unit.core import objects
from tests.unit.core.objects import failed, job, over, pod, running, stalled_for
from tests.unit.core.plans.decisions import again, look, task


@pytest.mark.parametrize(
    ("reason", "believed"), [("RepositoryUnreachable", True), ("IntegrationExists", False)]
)
def test_a_begin_believes_an_older_ref_only_where_a_job_before_may_have_made_it(
    reason: str, believed: bool
) -> None:
    new = objects.plan(begun=False)
    first = look(new)
    bad = job("web-begin-0", over(failed("begin", reason, "no")))
    held = look(again(new, first), task(), jobs=(bad,))
    assert stalled_for(held.status.conditions) == reason

    probe = look(again(new, held), task(), jobs=(bad,), now=PROBE_SECONDS)

    begins = [i for step in (first, probe) for i in step.actions if isinstance(i, RunBegin)]
    assert [begin.again for begin in begins] == [False, believed]


def test_a_begin_whose_pod_finds_no_node_says_so_until_one_has_room() -> None:
    new = objects.plan(begun=False)
    words = "0/1 nodes are available"
    without = pod(phase="Pending", age=10, unschedulable=words, node=None)

    waits = look(again(new, look(new)), task(), jobs=(job("web-begin-0", without),))

    assert waits.status.waiting is not None
    assert waits.status.waiting.reason == "Unschedulable"
    assert words in waits.status.waiting.message
    placed = look(again(new, waits), task(), jobs=(job("web-begin-0", pod(running("begin"))),))
    assert placed.status.waiting is None
