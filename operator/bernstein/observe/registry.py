"""One process's registry, metrics made from their `Series`, and the text that Prometheus reads."""

from __future__ import annotations

import re
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version

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

from bernstein.observe.series import BUILD_INFO, Series

OTHER = "other"
_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,62}")


class Registry(CollectorRegistry):
    """Leaves out the `_created` samples, which double the number of series for nothing we use."""

    def collect(self) -> Iterable[Metric]:
        for metric in super().collect():
            metric.samples = [s for s in metric.samples if not s.name.endswith("_created")]
            yield metric


def new_registry(*, process: bool) -> Registry:
    """An empty registry; with `process`, memory, CPU, open files and garbage collection in it."""
    registry = Registry()
    if process:
        ProcessCollector(registry=registry)
        PlatformCollector(registry=registry)
        GCCollector(registry=registry)
    gauge(BUILD_INFO, registry).labels(_version()).set(1)
    return registry


def _version() -> str:
    try:
        return version("bernstein")
    except PackageNotFoundError:
        return "unknown"


def counter(series: Series, registry: CollectorRegistry) -> Counter:
    return Counter(series.name, series.meaning, series.labels, registry=registry)


def gauge(series: Series, registry: CollectorRegistry) -> Gauge:
    return Gauge(series.name, series.meaning, series.labels, registry=registry)


def histogram(series: Series, registry: CollectorRegistry) -> Histogram:
    return Histogram(
        series.name, series.meaning, series.labels, registry=registry, buckets=series.buckets
    )


def word(value: object) -> str:
    """A label value that is a plain word; anything else (free text, say) counts as `other`."""
    text = str(value)
    return text if _WORD.fullmatch(text) else OTHER


def render(registry: CollectorRegistry, accept: str = "") -> tuple[bytes, str]:
    """The body and content type that a scraper with this Accept header gets."""
    encode, content_type = choose_encoder(accept)
    return encode(registry), content_type
