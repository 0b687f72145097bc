"""What the operator does for every event and every reconcile, counted in calls.

Calls are the same on any machine; they are printed (``pytest -s``) for the reference.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from functools import partial
from types import FrameType
from typing import Any, TypeVar, cast

import pytest
from prometheus_client.metrics import MetricWrapperBase

from bernstein.api.encoding import dump
from bernstein.api.pod import InspectConfig
from bernstein.api.signals import Signal
from bernstein.checks.spec import Subject
from bernstein.controllers.caches import fields
from bernstein.core import conditions, pods, runs, sanitise
from bernstein.core.verification.expected.required import reading, required_checks
from bernstein.core.verification.inspections import inspections
from bernstein.core.verification.summary import digest_of_checks
from bernstein.kube.client import Client
from bernstein.kube.config import ConnectionInfo
from bernstein.kube.informer import Informer
from bernstein.kube.patches import status_diff
from bernstein.kube.queue import Priority
from bernstein.kube.reconcile import Controller, Result, own_key
from bernstein.kube.resource import JOBS, PODS, Key, Object, key_of
from bernstein.observe.logging import Cleaner
from bernstein.observe.metrics import Metrics
from tests.perf.test_plan_status import plan
from tests.unit.core import objects

CHANGED = Subject(any_changed=True, python_changed=True, tests_changed=True, deps_changed=True)
T = TypeVar("T")


def counted(function: Callable[[], T]) -> tuple[T, Counter[str]]:
    """What the function returns, and how often each function of Python's was called meanwhile."""
    calls: Counter[str] = Counter()

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            calls[frame.f_code.co_name] += 1

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        return function(), calls
    finally:
        sys.setprofile(before)


@pytest.mark.parametrize("steps", [1, 50])
def test_a_status_that_says_the_same_costs_no_call_for_each_of_its_fields(steps: int) -> None:
    full = plan(steps)
    before, after = full.status.dump(), full.status.dump()
    patch, calls = counted(lambda: status_diff(before, after))
    print(f"calls to see that a status with {len(full.status.tasks)} rows says the same:", end=" ")
    print(calls.total())
    assert patch == {}
    assert calls.total() < 12


def test_only_what_differs_of_a_status_is_looked_through() -> None:
    conditions = [{"type": f"T{n}", "status": "True", "message": "m"} for n in range(10)]
    before = {"state": "Running", "conditions": conditions, "usage": {"input": 1, "output": 2}}
    after = {**before, "usage": {"input": 1, "output": 3, "cacheRead": None}}
    patch, calls = counted(lambda: status_diff(before, after))
    assert patch == {"usage": {"output": 3}}
    assert calls["_without_none"] == 1


def observe(metrics: Metrics) -> None:
    """What one reconcile of a Task tells."""
    metrics.queue_added("task")
    metrics.queue_depth("task", 1)
    metrics.queue_started("task", 0.1)
    metrics.request("PATCH", "tasks", 200, 0.1)
    metrics.task_moved("team", "Running")
    metrics.job_finished("team", "agent", "succeeded", 1.0)
    metrics.queue_finished("task", 0.1)
    metrics.reconciled("task", "success", 0.1)


def test_a_line_of_a_series_is_looked_up_once(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_up: list[tuple[object, ...]] = []
    original = cast("Any", MetricWrapperBase.labels)

    def labels(metric: MetricWrapperBase, *values: object) -> MetricWrapperBase:
        looked_up.append(values)
        return cast("MetricWrapperBase", original(metric, *values))

    monkeypatch.setattr(MetricWrapperBase, "labels", labels)
    metrics = Metrics(process=False)
    observe(metrics)
    first = len(looked_up)
    for _ in range(100):
        observe(metrics)
    print(f"lines looked up by 101 reconciles: {len(looked_up)}, {first} of them by the first")
    assert len(looked_up) == first
    value = metrics.registry.get_sample_value("workqueue_adds_total", {"name": "task"})
    assert value == 101


def test_a_check_is_digested_once_and_nothing_of_a_question_is_copied() -> None:
    signals = [Signal(type="path_exists", path=f"src/{n}.py") for n in range(8)]
    checks = required_checks(signals, objects.project(gates={}).spec, CHANGED)

    asked = tuple(check.reads for check in reading(checks) if check.reads is not None)
    config = InspectConfig("a" * 40, "b" * 40, asked)

    def look() -> set[str]:
        names = {check.digest for _ in range(6) for check in checks}
        assert digest_of_checks(checks)
        assert inspections(checks)
        assert dump(config)
        return names

    names, calls = counted(look)
    print(f"digests made of {len(checks)} checks that are asked for theirs 7 times: ", end="")
    print(calls["digest"])
    assert len(names) == len(checks)
    assert calls["digest"] == len(checks)
    assert calls["deepcopy"] == calls["_asdict_inner"] == 0


@pytest.mark.parametrize("sidecars", [1, 20])
def test_whether_a_pod_has_ended_is_read_in_one_pass_over_its_containers(sidecars: int) -> None:
    more = [objects.ended(f"sidecar-{n}") for n in range(sidecars)]
    pod = objects.pod(*more, objects.ended("check"))
    pod["spec"]["containers"] = [{"name": each["name"]} for each in (*more, {"name": "check"})]
    pod["status"]["startTime"] = objects.NOW.isoformat()
    found, calls = counted(lambda: pods.has_ended(pod))
    print(f"calls to see that a pod of {sidecars + 1} containers has ended: {calls.total()}")
    assert found
    assert calls.total() < 12 + 2 * sidecars  # the time of its end is read of each


def test_what_is_kept_of_a_pod_costs_a_call_for_each_part_and_none_for_each_field() -> None:
    pod = objects.pod(*(objects.ended(f"sidecar-{n}") for n in range(20)))
    pod["spec"]["containers"] = [{"name": f"sidecar-{n}", "image": "i:1"} for n in range(20)]
    kept, calls = counted(lambda: fields.pod(pod))
    print(f"calls to keep of a pod of 20 containers what is read: {calls.total()}")
    assert kept["spec"]["containers"] == pod["spec"]["containers"]
    parts = 2 * 20  # what is said of each container, and how it stands
    assert calls.total() < 3 * parts


def test_the_key_of_an_object_is_made_without_another_call() -> None:
    named = {"metadata": {"namespace": "a", "name": "b"}}
    key, calls = counted(partial(key_of, named))
    assert key == Key("a", "b")
    assert calls == {"key_of": 1}


def test_whether_a_jobs_pod_has_ended_is_read_once_in_a_look() -> None:
    job = objects.job("check", objects.pod(objects.ended("checkout")))

    def look() -> None:
        for _ in range(5):
            runs.state(job, objects.NOW)
            runs.is_overdue(job, objects.NOW)
            assert job.goes_on

    _, calls = counted(look)
    assert calls["has_ended"] == 1


def test_our_own_words_are_seen_to_be_plain_at_once() -> None:
    cleaner = Cleaner(partial(sanitise.text, limit=2000))
    said = {"message": "task moved", "name": "web-build-1", "before": "Open", "uid": "a-b-c"}
    cleaner(None, "info", said)  # patterns are made at their first use
    cleaned, calls = counted(lambda: cleaner(None, "info", said))
    print(f"calls to clean a line of the log with {len(said)} fields: {calls.total()}")
    assert cleaned == said
    assert calls["text"] == 2 * len(said)
    assert calls["_cut"] == 0


def test_a_condition_that_says_the_same_is_not_made_anew() -> None:
    said: dict[str, Any] = {"message": "m", "generation": 1}
    before = conditions.put((), "Stalled", "True", "NoPlace", now=objects.NOW, **said)
    status = objects.status(conditions=before)

    def again() -> object:
        return conditions.note(status, "Stalled", True, "NoPlace", "m", objects.at(9))

    after, calls = counted(again)
    assert after is status
    assert calls["__init__"] == calls["model_copy"] == 0


def test_gates_of_a_project_are_made_and_digested_once_for_all_tasks() -> None:
    many = [{"name": name} for name in ("lint", "pii_scan", "dlp_scan", "large_file")]
    of_all = objects.project(gates={"pipeline": many}).spec

    def look() -> list[str]:
        signal = Signal(type="path_exists", path="a.py")
        return [check.digest for check in required_checks([signal], of_all, CHANGED)]

    first = look()
    again, calls = counted(look)
    print(f"digests made for another Task with a signal and {len(first) - 1} gates: ", end="")
    print(calls["digest"])
    assert again == first
    assert (calls["digest"], calls["_gate"]) == (1, 0), "that of its signal"
    other = objects.project(gates={"enabled": False}).spec
    assert len(required_checks((), other, CHANGED)) == 0


async def test_how_urgent_an_event_is_is_asked_only_where_it_concerns_somebody() -> None:
    asked: list[Object] = []

    def rank(_: Object | None, new: Object | None) -> Priority:
        assert new is not None
        asked.append(new)
        return Priority.HIGH

    async def reconcile(_: Key) -> Result:
        return Result()

    async with Client(ConnectionInfo(server="http://127.0.0.1:9")) as client:
        jobs, pods = Informer(client, JOBS), Informer(client, PODS)
        controller = Controller("jobs", reconcile, primary=jobs)
        controller.watch(pods, lambda pod: own_key(pod) if pod["spec"] else (), priority=rank)
        for number in range(10):
            meta = {"name": f"p{number}", "uid": f"u{number}", "resourceVersion": str(number + 1)}
            pod = {"metadata": meta, "spec": {"nodeName": "n"} if number == 7 else {}}
            pods._cache.update(pod)
    assert len(asked) == 1
    assert controller.queue.poll() == Key("", "p7")
    assert controller.queue.priority_of(Key("", "p7")) is Priority.HIGH
