"""Gate `integration_test_gen`: a test that a model writes for the change passes.

Only a test that has run to its end and failed says something of the work. One that cannot be
collected, or is passed over, is the model's fault. The file lies outside of the tree, so that no
`conftest.py` and no configuration of the repository decides what becomes of it.
"""

from __future__ import annotations

from bernstein.checks.asks import Asks
from bernstein.checks.gate import Gate, Writes, needs

_COMMAND = (
    # So that the log says which test it was.
    f"""cat "$TEST"; {needs("pytest")}"""
    # What has run here before may have left one.
    'rm -f "$TMPDIR/written.xml"; export PYTHONPATH="$PWD:$PWD/src${PYTHONPATH:+:$PYTHONPATH}"; '
    'python3 -m pytest -q -p no:cacheprovider --junitxml="$TMPDIR/written.xml" "$TEST"; code=$?; '
    # In a report `<` stands for nothing else: what a test is called or prints has it escaped.
    """said() { grep -sq "<testsuite [^>]*$1" "$TMPDIR/written.xml"; }; """
    """[ $code -eq 1 ] && said 'failures="[1-9]' && exit 1; """
    """[ $code -eq 0 ] && said 'skipped="0" tests="[1-9]' && exit 0; """
    "echo 'no test of it has run to its end' >&2; exit 2"
)

GATE = Gate(
    name="integration_test_gen",
    condition="python_changed",
    default_on=False,
    runs=Writes(Asks(prompt="integration_test_gen", form="test", tokens=2048), _COMMAND),
)
