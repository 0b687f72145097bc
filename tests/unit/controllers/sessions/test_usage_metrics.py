"""What a session has used is counted by whose work it was."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from bernstein.controllers.sessions import usage_metrics
from bernstein.kube.resource import Key
from bernstein.observe.metrics import Metrics
from tests.unit.core import objects
from tests.unit.core.objects import NAMESPACE


def counted(*, task: bool, used: dict[str, int] | None) -> Metrics:
    metrics = Metrics(process=False)
    of_tasks = {Key(NAMESPACE, "work"): objects.task(role="qa")} if task else {}
    caches: Any = SimpleNamespace(tasks=of_tasks)
    session = objects.session(usage=used)
    usage_metrics.count(metrics, caches, session, None)
    return metrics


def tokens(metrics: Metrics, role: str) -> float | None:
    of = {"namespace": NAMESPACE, "project": "default", "adapter": "demo", "tier": "sonnet"}
    labels = {**of, "role": role, "kind": "input"}
    return metrics.registry.get_sample_value("bernstein_tokens_total", labels)


def test_it_has_the_role_of_its_task_and_the_tier_of_its_model() -> None:
    assert tokens(counted(task=True, used={"input": 7}), "qa") == 7


def test_without_its_task_nobody_knows_the_role() -> None:
    assert tokens(counted(task=False, used={"input": 7}), "other") == 7


def test_a_session_that_told_nothing_counts_nothing() -> None:
    assert tokens(counted(task=True, used=None), "qa") is None
