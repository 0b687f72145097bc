"""Gate `agent_test_mutation`: the tests that the work has changed notice small faults in what they
run."""

from __future__ import annotations

from bernstein.checks.gate import WITHOUT_COV, Command, Gate, needs

_TESTS = "'python3 -m pytest -q -x -p no:cacheprovider -p no:randomly'"

GATE = Gate(
    name="agent_test_mutation",
    condition="tests_changed",
    default_on=False,
    runs=Command(
        f'{needs("pytest")}{WITHOUT_COV}python3 -I "$TOOLS/mutants.py" tests {_TESTS}',
        output="mutants",
        against_base=True,
        least=0.7,
        tool="mutants",
    ),
    runs_code=True,
    lasts=False,  # how many faults there is time for depends on the node
)
