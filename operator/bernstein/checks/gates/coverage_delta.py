"""Gate `coverage_delta`: the tests run no smaller part of the code than they did."""

from __future__ import annotations

from bernstein.checks.gate import WITHOUT_COV, Command, Gate, needs

_OURS = '--rcfile="$TMPDIR/measure.ini" --data-file="$TMPDIR/coverage"'
_COMMAND = (
    f"{needs('pytest')}{WITHOUT_COV}"
    # Lines that a comment excludes count like others, and so does code in a folder that is no
    # package. What the other tree has left here is removed: tests may end before anything is
    # written.
    r"""printf '[report]\nexclude_lines =\ninclude_namespace_packages = true\n'"""
    """ > "$TMPDIR/measure.ini"; rm -f "$TMPDIR/coverage"; """
    f"coverage run {_OURS} --source=. -m pytest -q -p no:cacheprovider >&2; "
    # Without any test there is nothing to measure; tests that fail are for gate `tests` to tell of.
    "code=$?; [ $code -eq 5 ] && echo '{}' && exit; [ $code -gt 1 ] && exit $code; "
    # A file that is no Python, such as one that a test needs so, is passed over.
    f"coverage json {_OURS} -q -i -o -"
)

GATE = Gate(
    name="coverage_delta",
    condition="python_changed",
    default_on=False,
    runs=Command(_COMMAND, output="coverage", against_base=True, tolerance=0.0),
    runs_code=True,
)
