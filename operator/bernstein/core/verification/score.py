"""The quality score of a tree: which part of the gates that ran has passed, by their weights.

It decides nothing: required gates do. A tree that only few gates have looked at may have all of it.
"""

from __future__ import annotations

from collections.abc import Iterable

from bernstein.api.verification import CheckResult

WEIGHTS = {
    "tests": 25,
    "lint": 15,
    "type_check": 15,
    "coverage_delta": 15,
    "security_scan": 10,
    "complexity_check": 5,
    "dead_code": 5,
    "import_cycle": 5,
    "pii_scan": 5,
}
"""In percent, where all of them run; what does not run leaves its weight to the others."""
_RAN = ("Passed", "Failed", "TimedOut")


def score(results: Iterable[CheckResult]) -> int | None:
    """From 0 to 100; None: no gate that has a weight has told anything of the tree."""
    ran = [
        (WEIGHTS[result.name], result.verdict == "Passed")
        for result in results
        if result.kind == "gate" and result.name in WEIGHTS and result.verdict in _RAN
    ]
    whole = sum(weight for weight, _ in ran)
    passed = sum(weight for weight, good in ran if good)
    return (200 * passed + whole) // (2 * whole) if whole else None
