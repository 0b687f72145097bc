"""Gate `type_check`: the type checker finds no errors, or none that the base lacks."""

from __future__ import annotations

from bernstein.checks.gate import Command, Gate
from bernstein.checks.linter_files import LINTER_FILES

GATE = Gate(
    name="type_check",
    condition="python_changed",
    default_on=False,
    # What a type is, and which packages there are, is the Project's to configure: so its own files
    # count, as they were when the work began. Its wrapper would ask for a newer version.
    runs=Command(
        "PYRIGHT_PYTHON_IGNORE_WARNINGS=1 pyright",
        pinned=LINTER_FILES,
        findings="pyright --outputjson || [ $? -eq 1 ]",
        output="pyright",
    ),
)
