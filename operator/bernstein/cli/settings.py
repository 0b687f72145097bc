"""The options that commands share: how they reach the cluster and how they answer."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, fields
from typing import Annotated

import typer

from bernstein.cli.shell import program

_COMMAND = re.compile(r"`((?:bernstein|kubectl)(?:(?! -n )[^`])+)`")
"""One that names no namespace itself."""


@dataclass(frozen=True)
class CliSettings:
    """Each field is an option, which may stand before or after the command."""

    json: Annotated[
        bool, typer.Option("--json", metavar="", help="Answer in JSON on standard output.")
    ] = False
    namespace: Annotated[
        str | None,
        typer.Option(
            "--namespace", "-n", metavar="NAME", help="Namespace (default: the kubeconfig's)."
        ),
    ] = None
    context: Annotated[
        str | None, typer.Option("--context", metavar="NAME", help="Context of the kubeconfig.")
    ] = None
    kubeconfig: Annotated[
        str | None,
        typer.Option("--kubeconfig", metavar="FILE", help="Kubeconfig (default: as for kubectl)."),
    ] = None
    workdir: Annotated[
        str | None,
        typer.Option(
            "--workdir",
            metavar="FOLDER",
            help="Folder whose bernstein.yaml names context, namespace, project (default: .).",
        ),
    ] = None

    def then(self, later: CliSettings) -> CliSettings:
        """These settings, replaced where `later` says something: the options after the command."""
        names = [field.name for field in fields(self)]
        return CliSettings(**{name: getattr(later, name) or getattr(self, name) for name in names})

    def command_line(self, *words: str) -> str:
        """How a person calls `bernstein` with these words for the same cluster and namespace."""
        return shlex.join([*program.words(), *words, *self._where()])

    def placed(self, text: str) -> str:
        """The text, its commands in backticks completed so that they reach the same cluster and
        namespace."""
        where = shlex.join(self._where())
        found = _COMMAND.sub(lambda found: f"`{found[1]} {where}`", text) if where else text
        return program.named(found)

    def _where(self) -> list[str]:
        return [
            *(("-n", self.namespace) if self.namespace else ()),
            *(("--context", self.context) if self.context else ()),
            *(("--kubeconfig", self.kubeconfig) if self.kubeconfig else ()),
        ]


OFFLINE = ("json", "workdir")
"""The options that a command without a cluster takes; it refuses the others, which name one."""
