"""Gate `benchmark`: no benchmark of the repository takes a good deal longer than it did."""

from __future__ import annotations

from bernstein.checks.gate import WITHOUT_COV, Command, Gate, needs

_COMMAND = (
    f"{needs('pytest', 'pytest_benchmark')}{WITHOUT_COV}"
    # What the other tree has left here is removed: tests may end before anything is written.
    'rm -f "$TMPDIR/benchmark.json"; '
    "python3 -m pytest -q -p no:cacheprovider --benchmark-only"
    ' --benchmark-json="$TMPDIR/benchmark.json" >&2; '
    "code=$?; [ $code -ne 0 ] && [ $code -ne 5 ] && exit $code; "
    """if [ -s "$TMPDIR/benchmark.json" ]; then cat "$TMPDIR/benchmark.json"; else echo '{}'; fi"""
)

GATE = Gate(
    name="benchmark",
    condition="always",
    default_on=False,
    runs=Command(_COMMAND, output="benchmark", against_base=True, tolerance=10.0),
    runs_code=True,
    lasts=False,  # it measures this hour on this node
)
