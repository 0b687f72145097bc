"""What becomes of looks at caches is counted once each."""

from __future__ import annotations

from typing import Any

import pytest
from prometheus_client.samples import Sample

from bernstein.api.projects.cache import CacheState
from bernstein.controllers.projects import caching
from bernstein.observe.metrics import Metrics
from tests.unit.core.objects import at, sha


def content(number: int) -> dict[str, Any]:
    name, digest = f"pack-{sha(number)}", f"{number:064x}"
    return {
        "commit": sha(number),
        "pack": {"name": f"{name}.pack", "size": 70, "sha256": digest},
        "index": {"name": f"{name}.idx", "size": 7, "sha256": digest},
    }


def state(**more: Any) -> CacheState:
    told = {"repository": "app", "folder": "uid-0", "claim": "caches", **more}
    return CacheState.model_validate(told)


FILLED = state(content=content(1), filled=at(0))


def counted(before: CacheState | None, after: CacheState) -> dict[str, float]:
    metrics = Metrics(process=False)
    caching.count(before, after, "team", metrics)
    samples: list[Sample] = [s for family in metrics.registry.collect() for s in family.samples]
    fills = {s.labels["outcome"]: s.value for s in samples if s.name.endswith("cache_fills_total")}
    size = sum(s.value for s in samples if s.name.endswith("cache_filled_bytes_total"))
    return fills | ({"bytes": size} if size else {})


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        (None, state(at_work=True), {}),
        (state(at_work=True), FILLED, {"filled": 1, "bytes": 77}),
        (FILLED, state(content=content(1), filled=at(60)), {"unchanged": 1}),
        (FILLED, state(content=content(2), filled=at(60)), {"filled": 1, "bytes": 77}),
        (FILLED, state(content=content(1), filled=at(0), failures=1), {"failed": 1}),
        (state(failures=3), FILLED, {"filled": 1, "bytes": 77}),
        (FILLED, FILLED, {}),
        (state(failures=3), state(failures=3), {}),
        (FILLED, state(), {}),
    ],
)
def test_a_look_that_ended_is_counted_by_what_became_of_it(
    before: CacheState | None, after: CacheState, found: dict[str, float]
) -> None:
    assert counted(before, after) == found
