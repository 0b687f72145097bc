"""The registry of one process, metrics made from their `Series`, and the text for Prometheus."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Container, Iterable
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import TypeAlias, TypeVar

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    GCCollector,
    Histogram,
    Metric,
    PlatformCollector,
    ProcessCollector,
)
from prometheus_client.exposition import choose_encoder
from prometheus_client.metrics import MetricWrapperBase

from bernstein.observe.series import BUILD_INFO, Series

OTHER = "other"
_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,62}")


class Registry(CollectorRegistry):
    """Leaves out the `_created` samples: they double the number of series, and we use none."""

    def __init__(self) -> None:
        super().__init__()
        self._one_at_a_time = asyncio.Lock()

    async def scraped(self, accept: str = "") -> tuple[bytes, str]:
        """`render`, beside the event loop: with many Projects there are thousands of lines."""
        async with self._one_at_a_time:
            return await asyncio.to_thread(render, self, accept)

    def collect(self) -> Iterable[Metric]:
        for metric in super().collect():
            metric.samples = [s for s in metric.samples if not s.name.endswith("_created")]
            yield metric


def new_registry(*, process: bool) -> Registry:
    """A registry with the build's version; with `process`, also with the memory, CPU, open files
    and garbage collection of this process."""
    registry = Registry()
    if process:
        ProcessCollector(registry=registry)
        PlatformCollector(registry=registry)
        GCCollector(registry=registry)
    gauge(BUILD_INFO, registry)(_version()).set(1)
    return registry


def _version() -> str:
    try:
        return version("bernstein")
    except PackageNotFoundError:
        return "unknown"


M = TypeVar("M", bound=MetricWrapperBase)

ByLabels: TypeAlias = Callable[..., M]
"""One line of a series: the metric with these values of its labels, in their order."""


def counter(series: Series, registry: CollectorRegistry) -> ByLabels[Counter]:
    return _kept(Counter(series.name, series.meaning, series.labels, registry=registry))


def gauge(series: Series, registry: CollectorRegistry) -> ByLabels[Gauge]:
    return _kept(Gauge(series.name, series.meaning, series.labels, registry=registry))


def plain_gauge(series: Series, registry: CollectorRegistry) -> Gauge:
    """One without labels."""
    return Gauge(series.name, series.meaning, registry=registry)


def histogram(series: Series, registry: CollectorRegistry) -> ByLabels[Histogram]:
    return _kept(
        Histogram(
            series.name, series.meaning, series.labels, registry=registry, buckets=series.buckets
        )
    )


def _kept(metric: M) -> ByLabels[M]:
    """Looks up each line once: `labels` checks and converts its values under a lock, some hundred
    times a Task. The metric keeps all its lines, too, so that nothing more is held."""
    return cache(metric.labels)


def word(value: object) -> str:
    """`value` as the value of a label: a plain word stays, anything else becomes `other`."""
    text = str(value)
    return text if _WORD.fullmatch(text) else OTHER


def one_of(value: object, vocabulary: Container[str]) -> str:
    """`value` as the value of a label where it is one of these words, else `other`."""
    text = str(value)
    return text if text in vocabulary else OTHER


def render(registry: CollectorRegistry, accept: str = "") -> tuple[bytes, str]:
    """(body, content type) for a scraper that sends this Accept header."""
    encode, content_type = choose_encoder(accept)
    return encode(registry), content_type
