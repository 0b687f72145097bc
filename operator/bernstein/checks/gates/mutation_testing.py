"""Gate `mutation_testing`: the tests notice small faults in the code that the work has changed."""

from __future__ import annotations

import shlex

from bernstein.checks.gate import WITHOUT_COV, Command, Gate, needs

_TESTS = "python3 -m pytest -q -x -p no:cacheprovider -p no:randomly"


def _tested_by(tests: str) -> Command:
    # What another command needs, and how it measures, is the Project's to know.
    before = needs("pytest") + WITHOUT_COV if tests == _TESTS else ""
    return Command(
        # Without the folders in which what has run before may have left modules.
        f'{before}python3 -I "$TOOLS/mutants.py" code {shlex.quote(tests)}',
        output="mutants",
        against_base=True,
        least=0.5,
        tool="mutants",
        with_tests=_tested_by,
    )


GATE = Gate(
    name="mutation_testing",
    condition="python_changed",
    default_on=False,
    runs=_tested_by(_TESTS),
    runs_code=True,
    lasts=False,  # how many faults there is time for depends on the node
)
