"""A verdict on files whose contents Git LFS did not have is none of the tree."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api.pod import CheckoutResult
from bernstein.core.jobs import JobView
from tests.unit.core.objects import BASE, TREE, job
from tests.unit.core.verification.cached.known import (
    OURS,
    after,
    closed_project,
    kept,
    linted,
    told,
)
from tests.unit.core.verification.cached.test_bases import compared, judge, ruled

_ROW = closed_project().spec.repositories[0].dump() | {"checkout": {"lfs": True}}
LFS: dict[str, Any] = {"repositories": [_ROW]}
SAID: dict[str, Any] = {
    "all were there": CheckoutResult(BASE, TREE, lacking=0),
    "some were not": CheckoutResult(BASE, TREE, lacking=2),
    "it does not say": CheckoutResult(BASE, TREE),
}


def with_checkout(its: JobView, said: CheckoutResult) -> JobView:
    """The Job, whose checkout has said so."""
    assert its.pod is not None
    checkout = told("checkout", "bernstein:1", OURS, said=said)[1]
    status = dict(its.pod["status"])
    for key in ("initContainerStatuses", "containerStatuses"):
        if key in status:
            status[key] = [checkout if c["name"] == "checkout" else c for c in status[key]]
    return job(its.name, {**its.pod, "status": status}, labels=dict(its.labels))


@pytest.mark.parametrize(
    ("said", "count"), [("all were there", 1), ("some were not", 0), ("it does not say", 0)]
)
def test_only_one_on_all_contents_is_kept(said: str, count: int) -> None:
    gates = {"pipeline": [{"name": "lint", "command": "make lint"}], "extends": None}
    project = closed_project(gates=gates, **LFS)
    found = after(with_checkout(linted(), SAID[said]), project=project)

    assert len(found.verdicts) == count


def test_a_project_that_asks_for_no_contents_keeps_them_as_before() -> None:
    assert len(after(linted()).verdicts) == 1


@pytest.mark.parametrize(("said", "count"), [("all were there", 2), ("some were not", 0)])
def test_so_is_what_was_measured_of_a_base(said: str, count: int) -> None:
    its = with_checkout(compared(), SAID[said])

    assert len(kept(judge(its, project=ruled(**LFS))).verdicts) == count
