"""`bernstein logs` shows what a check printed whose work has to answer for it, and no more."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest

from bernstein.api.pod import CheckVerdict
from bernstein.cli.cluster import Cluster
from bernstein.cli.commands.logs import check_log
from bernstein.cli.commands.logs.check_log import CheckLog, Whose
from bernstein.core import labels
from bernstein.kube.client import Client, ObjectList
from bernstein.kube.resource import PODS, Object, Resource
from tests.unit.core import objects

TASK = Whose(labels.TASK, "work", "uid-work")
FOUND = "a.py:1 F401\nFound 1 error.\n"


class Pods:
    """A cluster with these pods; all of them printed the same."""

    def __init__(self, pods: tuple[Object, ...]) -> None:
        self._pods = pods

    async def list(self, resource: Resource, *_: Any, **__: Any) -> ObjectList:
        return ObjectList(list(self._pods) if resource is PODS else [], "1")

    async def logs(self, *_: Any, **__: Any) -> bytes:
        return FOUND.encode()


def pod(job: str, check: str, container: Object, phase: str) -> Object:
    named = {labels.CHECK: check, labels.JOB_NAME: job, labels.OWNER_UID: TASK.uid}
    made = objects.pod(container, phase=phase)
    return {**made, "metadata": {**made["metadata"], "name": f"{job}-pod", "labels": named}}


FAILED = pod("work-s1-lint-0", "lint", objects.ended("check", 1), "Failed")


def compared(verdict: str) -> Object:
    told = objects.ended("check", said=CheckVerdict("lint", verdict))
    return pod("work-s1-lint-0b", "lint.base", told, "Succeeded")


COMPARES = pod("work-s1-lint-0b", "lint.base", objects.running("check"), "Running")


def shown(*pods: Object, running: bool = True) -> list[CheckLog]:
    cluster = Cluster(cast("Client", Pods(pods)), "team")
    return list(asyncio.run(check_log.read(cluster, TASK, running=running)).logs)


def test_what_the_linter_found_that_the_base_has_too_is_not_shown() -> None:
    assert shown(FAILED, compared("Passed")) == []


@pytest.mark.parametrize("verdict", ["Failed", "Skipped", "Errored"])
def test_what_did_not_pass_in_the_comparison_either_is_shown(verdict: str) -> None:
    assert shown(FAILED, compared(verdict)) == [CheckLog("lint", "work-s1-lint-0", FOUND)]


def test_without_a_comparison_what_failed_is_shown() -> None:
    said = objects.ended("check", said="Passed")
    other = pod("work-s1-lint-0b", "lint.base", said, "Succeeded")

    assert shown(FAILED) == shown(FAILED, other) == [CheckLog("lint", "work-s1-lint-0", FOUND)]


def test_while_it_is_compared_nobody_knows_yet_whether_it_is_the_works_doing() -> None:
    asked = next(log for log in shown(FAILED, COMPARES) if log.check == "lint")

    assert asked.text == FOUND
    assert asked.note == "It is being compared with the commit before the work."
    assert shown(FAILED, COMPARES, running=False) == []


def test_in_a_project_with_several_the_repository_of_a_check_is_known() -> None:
    meta = FAILED["metadata"]
    labelled = {**meta["labels"], labels.REPOSITORY: "web"}
    (log,) = shown({**FAILED, "metadata": {**meta, "labels": labelled}})

    assert log.repository == "web"
    assert [log.repository for log in shown(FAILED)] == [""]
