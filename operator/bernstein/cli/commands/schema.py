"""`bernstein schema`"""

from __future__ import annotations

import json
from typing import Annotated, Final

import typer

from bernstein.api.meta import MADE_BY_PEOPLE
from bernstein.cli.settings import CliSettings

_PLAN_FILE: Final = "plan-file"
_OBJECTS: Final = {kind.lower(): kind for kind in MADE_BY_PEOPLE}
"""Kinds by the word that is typed."""
SUBJECTS: Final = (_PLAN_FILE, *_OBJECTS)
"""What there is a schema of."""


def _completed(incomplete: str) -> list[str]:
    return [each for each in SUBJECTS if each.startswith(incomplete)]


def _known(word: str) -> str:
    if word not in SUBJECTS:
        known = ", ".join(f"'{each}'" for each in SUBJECTS)
        raise typer.BadParameter(f"'{word}' is not one of {known}.")
    return word


def schema(
    settings: CliSettings,
    of: Annotated[
        str,
        typer.Argument(
            metavar=f"[{'|'.join(SUBJECTS)}]",
            help="Of what.",
            autocompletion=_completed,
            callback=_known,
        ),
    ] = _PLAN_FILE,
) -> None:
    """Prints the JSON schema of plan files and objects, for editors."""
    del settings
    from bernstein import crds

    kinds = {kind.name: kind for kind in crds.KINDS}
    found = crds.of_plan_file() if of == _PLAN_FILE else crds.of_object(kinds[_OBJECTS[of]])
    typer.echo(json.dumps(found, indent=2))
