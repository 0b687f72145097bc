"""`bernstein schema`"""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Annotated

import typer

from bernstein.cli.settings import CliSettings


class Subject(StrEnum):
    """What there is a schema of."""

    PLAN_FILE = "plan-file"
    PLAN = "plan"
    TASK = "task"
    PROJECT = "project"


def schema(
    settings: CliSettings,
    of: Annotated[
        Subject,
        typer.Argument(metavar="[plan-file|plan|task|project]", help="Of what."),
    ] = Subject.PLAN_FILE,
) -> None:
    """Prints the JSON schema of plan files and objects, for editors."""
    del settings
    from bernstein import crds

    kinds = {kind.name.lower(): kind for kind in crds.KINDS}
    found = crds.of_plan_file() if of is Subject.PLAN_FILE else crds.of_object(kinds[of.value])
    typer.echo(json.dumps(found, indent=2))
