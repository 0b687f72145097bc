"""Rule `collected-tests`: what the runner of tests lists in the base, it lists in the work, too.

To list tests runs the work's own code, which may put any name into its list: the rule finds what is
lost, and does not show that nothing is.
"""

from __future__ import annotations

from bernstein.checks.gate import WITHOUT_COV, Command, Gate, needs
from bernstein.checks.weakening.collected_tests import NAMES, PYTEST

NAME = "collected-tests"

_COMMAND = (
    f"{needs('pytest')}{WITHOUT_COV}"
    # Whatever options the repository has: those that decide which tests there are stay.
    "python3 -m pytest --collect-only --verbosity=-1 -o verbosity_test_cases=-1 --color=no"
    " --capture=fd --disable-warnings -p no:cacheprovider"
)


def of_project(command: str | None) -> Command:
    """What lists the tests; `command`: the Project's own."""
    if command is None:
        return Command(_COMMAND, output=PYTEST, against_base=True)
    return Command(command, output=NAMES, against_base=True)


RULE = Gate(
    name=NAME,
    condition="any_changed",
    default_on=False,
    runs=of_project(None),
    runs_code=True,
)
