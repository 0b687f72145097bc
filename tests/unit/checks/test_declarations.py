"""Declarations are cheap to import: the operator knows every check and runs none of them."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = (
    "detect_secrets",
    "wcmatch",
    "bernstein.checks.content.secrets",
    "bernstein.checks.regulated",
    "bernstein.pods.globs",
)


@pytest.mark.parametrize(
    "module",
    [
        "bernstein.checks.scans",
        "bernstein.agents",
        "bernstein.crds",
        "bernstein.controllers.engine",
    ],
)
def test_no_library_of_a_check_is_loaded(module: str) -> None:
    code = f"import sys, {module}; print([m for m in {HEAVY!r} if m in sys.modules])"

    said = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)

    assert said.stdout.strip() == "[]"


def test_programs_in_pods_read_them_without_the_models() -> None:
    code = "import sys, bernstein.checks.scans; print('pydantic' in sys.modules)"

    said = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)

    assert said.stdout.strip() == "False"
