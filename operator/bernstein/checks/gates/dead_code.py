"""Gate `dead_code`: tells of code that nothing uses, and that the base does not have."""

from __future__ import annotations

from bernstein.checks.gate import Command, Gate

# It ends with 3 where it finds something, and with 1 where there is a file that it cannot read.
_ENDS_WELL = "code=$?; [ $code -ne 0 ] && [ $code -ne 1 ] && [ $code -ne 3 ] && exit $code; true"


GATE = Gate(
    name="dead_code",
    condition="python_changed",
    default_on=False,
    runs=Command(
        f"vulture --config /dev/null .; {_ENDS_WELL}",
        output="vulture",
        against_base=True,
    ),
    required=False,
)
