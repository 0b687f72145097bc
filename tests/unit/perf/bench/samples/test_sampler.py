"""A process that is looked at while it works."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.perf.bench.samples import restart
from tests.perf.bench.samples.sampler import (
    LOADING,
    WORKS,
    Sampler,
    as_text,
    name_of,
    package,
    read,
)
from tests.perf.bench.samples.stacks import Stack, work_of

SITE = "/x/lib/python3.11/site-packages"


def at_work(seconds: float) -> None:
    until = time.process_time() + seconds
    while time.process_time() < until:
        pass


def test_cpu_is_counted_where_it_is_used_and_only_between_begin_and_end() -> None:
    sampler = Sampler()

    at_work(0.1)
    sampler.begin()
    at_work(0.3)
    sampler.end()
    at_work(0.1)

    here = [s.ms for s in sampler.stacks() if any(f.endswith(":at_work") for f in s.functions)]
    assert sum(here) == pytest.approx(300, abs=60)


def test_what_begins_at_once_tells_what_it_took_to_load() -> None:
    sampler = Sampler()
    before = 1000 * time.process_time()

    sampler.begin_at_once()
    sampler.end()

    loading = [stack for stack in sampler.stacks() if stack.functions == (LOADING,)]
    assert [stack.ms for stack in loading] == [pytest.approx(before, abs=100)]


def test_what_was_found_is_read_again(tmp_path: Path) -> None:
    found = [Stack(1.5, ("core/pods:Pods.<lambda>", "loop:run")), Stack(20.25, ("loop:run",))]
    file = tmp_path / "samples"

    file.write_text(as_text(found))

    assert read(file) == found


@pytest.mark.parametrize(
    ("file", "name", "room"),
    [
        ("/x/operator/bernstein/core/tasks/decide.py", "core/tasks/decide:f", "core/tasks"),
        (f"{SITE}/aiohttp/client.py", "library aiohttp/client:f", "library aiohttp"),
        ("/x/lib/python3.11/asyncio/events.py", "library asyncio/events:f", "library asyncio"),
        ("/x/lib/python3.11/ssl.py", "library ssl:f", "library ssl"),
        ("<frozen runpy>", "<frozen runpy>:f", "<frozen runpy>"),
    ],
)
def test_a_function_is_told_with_its_room_or_library(file: str, name: str, room: str) -> None:
    assert name_of(file, "f") == name
    assert package(name) == room


@pytest.mark.parametrize(
    ("work", "functions"),
    [
        (
            "reconciles: their requests",
            ["library ssl:SSLObject.write", "kube/client:Client._send", "kube/reconcile:f"],
        ),
        ("reconciles: all else", ["core/tasks/decide:decide", "kube/reconcile:f"]),
        ("watches: all else", ["kube/cache:put", "kube/informer:Informer._apply"]),
        ("TLS", ["library ssl:SSLObject.read", "library asyncio/sslproto:g"]),
        ("event loop", ["library selectors:select", "library asyncio/base_events:run"]),
        ("the rest", ["__main__:main"]),
    ],
)
def test_a_stack_is_of_the_work_that_it_is_for(work: str, functions: list[str]) -> None:
    assert work_of(Stack(10, tuple(functions)), WORKS) == work


@pytest.mark.parametrize(
    ("work", "functions"),
    [
        (LOADING, [LOADING]),
        ("lists: reading JSON", ["kube/answers/json:read", "kube/informer:Informer._list"]),
        ("lists: packing", ["kube/cache:Packing.pack", "kube/cache:put", "kube/informer:f"]),
        (
            "lists: what needs no look",
            ["api/task:f", "controllers/caches/first_look:f", "kube/informer:f"],
        ),
        ("lists: all else", ["kube/cache:put", "kube/informer:Informer._apply"]),
        ("looks: unpacking", ["kube/cache:Packed.unpacked", "kube/reconcile:f"]),
        (
            "looks: reading as models",
            ["library pydantic/main:f", "kube/reconcile:f"],
        ),
        ("looks: deciding", ["core/tasks/decide:decide", "kube/reconcile:f"]),
        ("looks: all else", ["controllers/snapshots:of", "kube/reconcile:f"]),
    ],
)
def test_a_stack_of_a_restart_is_of_the_work_that_it_is_for(
    work: str, functions: list[str]
) -> None:
    assert work_of(Stack(10, tuple(functions)), restart.WORKS) == work
