"""Gate `tests`: the repository's tests pass, and there are some.

An exit code alone may be anybody's: what a test run imports can end it with 0 before any test has
run. So pytest has to leave a report as well, outside of the tree, that tells of at least one.
"""

from __future__ import annotations

from bernstein.checks.gate import Command, Gate, needs

_COMMAND = (
    f"{needs('pytest')}"
    # What has run here before may have left one.
    'rm -f "$TMPDIR/tests.xml"; '
    'python3 -m pytest -q -p no:cacheprovider --junitxml="$TMPDIR/tests.xml"; '
    "code=$?; [ $code -ne 0 ] && exit $code; "
    # In a report `<` stands for nothing else: what a test is called or prints has it escaped.
    """if grep -sq '<testsuite [^>]*tests="[1-9]' "$TMPDIR/tests.xml" """
    # Those that are passed over are counted among all.
    r"""&& ! grep -q '<testsuite [^>]*skipped="\([0-9]*\)" tests="\1"' "$TMPDIR/tests.xml"; """
    "then exit 0; fi; "
    "echo 'pytest has left no report of a test that it has run' >&2; exit 1"
)

GATE = Gate(
    name="tests",
    condition="python_changed",
    default_on=False,
    runs=Command(_COMMAND),
    runs_code=True,
)
