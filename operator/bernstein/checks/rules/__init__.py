"""What a Project or Plan asks of every change by a field of its own: a file for each rule.

They are told as gates are. No gate of a Project can have such a name, which holds a hyphen.
"""

from __future__ import annotations

from bernstein.checks.gate import Gate
from bernstein.checks.reading import UNKNOWN
from bernstein.checks.rules import collected_tests, file_scope, protect_tests

RULES: tuple[Gate, ...] = (file_scope.RULE, protect_tests.RULE, collected_tests.RULE)


def of(name: str) -> Gate:
    """The rule of that name, else one whose check is Errored."""
    unknown = Gate(name, condition="any_changed", default_on=False, runs=UNKNOWN)
    return next((rule for rule in RULES if rule.name == name), unknown)
