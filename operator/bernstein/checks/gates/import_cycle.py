"""Gate `import_cycle`: no modules of Python import each other in a circle that is new."""

from __future__ import annotations

from bernstein.checks.gate import Command, Gate

_WHERE = "--config 'exclude=[\".git\"]' --config 'respect-gitignore=false'"

GATE = Gate(
    name="import_cycle",
    condition="python_changed",
    default_on=False,
    runs=Command(
        f"ruff analyze graph -q --isolated --no-type-checking-imports {_WHERE} .",
        output="imports",
        against_base=True,
    ),
)
