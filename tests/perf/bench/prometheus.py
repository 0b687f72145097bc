"""Counters of a process as its /metrics shows them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Set
from dataclasses import dataclass, field

_LINE = re.compile(r"^(?P<name>[a-zA-Z_:][\w:]*)(?:\{(?P<labels>.*)\})? (?P<value>\S+)")
_LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')


@dataclass(frozen=True)
class Sample:
    """One value of one series."""

    name: str
    labels: Mapping[str, str]
    value: float


@dataclass(frozen=True)
class Samples:
    """All values of some metrics at one moment."""

    found: tuple[Sample, ...] = field(default=())

    def total(self, name: str, **labels: str) -> float:
        """Sum of the series of a metric that have these labels; 0 where there is none."""
        return sum(
            s.value for s in self.found if s.name == name and labels.items() <= s.labels.items()
        )

    def by(self, name: str, *labels: str) -> dict[tuple[str, ...], float]:
        """Sums of a metric by the values of these labels; a label that is missing counts as ""."""
        sums: defaultdict[tuple[str, ...], float] = defaultdict(float)
        for sample in self.found:
            if sample.name == name:
                key = tuple(sample.labels.get(label, "") for label in labels)
                sums[key] += sample.value
        return sums


def parse(text: str, names: Set[str]) -> Samples:
    """The samples of metrics of these names. An API server shows many thousands of others."""
    found = []
    for line in text.splitlines():
        match = _LINE.match(line) if line.partition("{")[0].partition(" ")[0] in names else None
        if match is not None:
            labels = dict(_LABEL.findall(match["labels"] or ""))
            found.append(Sample(match["name"], labels, float(match["value"])))
    return Samples(tuple(found))
