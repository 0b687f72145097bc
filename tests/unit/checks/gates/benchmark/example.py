"""Trees that the gate `benchmark` passes and fails."""

from __future__ import annotations

from tests.unit.checks.examples import GateExample
from tests.unit.checks.trees import Tree


def sums(numbers: int) -> dict[str, str]:
    body = f"def test_sum(benchmark) -> None:\n    benchmark(sum, range({numbers}))\n"
    return {"test_bench.py": body}


EXAMPLE = GateExample(
    passes=Tree(sums(100), before=sums(100_000)),
    fails=Tree(sums(100_000), before=sums(100)),
)
