"""When containers ran, by what containerd tells."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.perf.bench.containers import Run, of_pod, runs

AT = datetime(2026, 1, 1, tzinfo=UTC)
ONE, TWO, THREE = "a" * 64, "b" * 64, "c" * 64


def line(moment: str, topic: str, **said: object) -> str:
    return f"2026-01-01 10:00:{moment} +0000 UTC k8s.io {topic} {json.dumps(said)}"


def events() -> Iterator[str]:
    yield line("01.949155458", "/containers/create", id=ONE)
    yield line("02.5", "/tasks/start", container_id=ONE, pid=7)
    yield line("02.7", "/tasks/start", container_id=TWO, pid=8)
    yield line("03", "/tasks/exit", container_id=ONE, id="a-probe", pid=9)
    yield line("03.25", "/tasks/exit", container_id=ONE, id=ONE, pid=7)
    yield line("03.5", "/tasks/exit", container_id=THREE, id=THREE, pid=6)
    yield "no event"


def test_a_container_ran_from_its_start_to_the_end_of_its_first_process() -> None:
    found = runs(events())

    assert found.keys() == {ONE}, "the others began before, or go on"
    assert found[ONE].begun == datetime(2026, 1, 1, 10, 0, 2, 500_000, UTC)
    assert found[ONE].seconds == 0.75


def pod(**containers: str) -> dict[str, Any]:
    """A pod with these containers, by ID; the first one is an init container."""
    statuses = [{"name": n, "containerID": f"containerd://{i}"} for n, i in containers.items()]
    told = {"initContainerStatuses": statuses[:1], "containerStatuses": statuses[1:]}
    return {"metadata": {"name": "work-s1-lint-0-x"}, "status": told}


def test_the_containers_of_a_pod_have_their_names() -> None:
    ran = {**runs(events()), TWO: Run(AT, AT)}

    assert of_pod(pod(checkout=ONE, check=TWO), ran) == {"checkout": ran[ONE], "check": ran[TWO]}


def test_a_container_of_which_nothing_is_known_is_an_error() -> None:
    with pytest.raises(RuntimeError, match=r"all of work-s1-lint-0-x: check$"):
        of_pod(pod(checkout=ONE, check=TWO), runs(events()))
