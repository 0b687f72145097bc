"""How a command reaches the cluster and how it answers."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Annotated

import typer


@dataclass(frozen=True)
class Settings:
    """Options that may stand before and after the command; after it they win."""

    json: bool = False
    namespace: str | None = None
    context: str | None = None
    kubeconfig: str | None = None

    def with_options(
        self, *, json: bool, namespace: str | None, context: str | None, kubeconfig: str | None
    ) -> Settings:
        return dataclasses.replace(
            self,
            json=self.json or json,
            namespace=namespace or self.namespace,
            context=context or self.context,
            kubeconfig=kubeconfig or self.kubeconfig,
        )


def settings_of(
    ctx: typer.Context,
    json: bool,
    namespace: str | None = None,
    context: str | None = None,
    kubeconfig: str | None = None,
) -> Settings:
    """The settings of a command: its own options over those of the root."""
    root = ctx.obj if isinstance(ctx.obj, Settings) else Settings()
    return root.with_options(json=json, namespace=namespace, context=context, kubeconfig=kubeconfig)


Json = Annotated[
    bool, typer.Option("--json", metavar="", help="Answer in JSON on standard output.")
]
Namespace = Annotated[
    str | None,
    typer.Option(
        "--namespace", "-n", metavar="NAME", help="Namespace (default: the kubeconfig's)."
    ),
]
Context = Annotated[
    str | None, typer.Option("--context", metavar="NAME", help="Context of the kubeconfig.")
]
Kubeconfig = Annotated[
    str | None,
    typer.Option("--kubeconfig", metavar="FILE", help="Kubeconfig (default: as for kubectl)."),
]
