"""Gives commands the options that they share, so that each declares only its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from inspect import Parameter, Signature, cleandoc, signature
from typing import Annotated, Any

import typer

from bernstein.cli.settings import OFFLINE, CliSettings

AllNamespaces = Annotated[
    bool, typer.Option("--all-namespaces", "-A", help="Of all namespaces that you may read.")
]
"""An option of commands that list; it overrules `--namespace`, as kubectl's does."""

COMMON = tuple(signature(CliSettings, eval_str=True).parameters.values())
_CONTEXT = Parameter("ctx", Parameter.KEYWORD_ONLY, annotation=typer.Context)

Function = Callable[..., None]


def reads_as(function: Function, parameters: Iterable[Parameter]) -> Function:
    """Gives `function` the signature of a context and these parameters, which typer reads as
    options; returns it."""
    options = [parameter.replace(kind=Parameter.KEYWORD_ONLY) for parameter in parameters]
    function.__signature__ = Signature([_CONTEXT, *options])  # type: ignore[attr-defined]
    return function


def with_common_options(function: Function, *, name: str, cluster: bool) -> Function:
    """Wraps a command's function so that it gets Settings as its first argument, made of the common
    options before and after the command.

    A command that uses no `cluster` has no options that name one; such options before the command
    are refused.
    """
    _, *own = signature(function, eval_str=True).parameters.values()
    common = [option for option in COMMON if cluster or option.name in OFFLINE]

    def called(ctx: typer.Context, **given: Any) -> None:
        after = CliSettings(**{option.name: given.pop(option.name) for option in common})
        before = ctx.obj if isinstance(ctx.obj, CliSettings) else CliSettings()
        settings = before.then(after)
        if cluster:
            settings = _completed(settings)
        else:
            _refuse_useless(name, settings)
        function(settings, **given)

    called.__doc__ = _flowing(function.__doc__ or "")
    return reads_as(called, [*own, *common])


def _flowing(words: str) -> str:
    """The text of a help without the line breaks of its source: typer keeps them within a paragraph
    and wraps at the width of the terminal besides."""
    paragraphs = cleandoc(words).split("\n\n")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)


def _completed(settings: CliSettings) -> CliSettings:
    """The settings with what `bernstein.yaml` of the folder says; ends the program where that
    cannot be understood."""
    from bernstein.cli.errors import CliError
    from bernstein.cli.local import configuration
    from bernstein.cli.output.terminal import Terminal

    try:
        return configuration.completed(settings)
    except CliError as error:
        Terminal(settings).fail(error)
        raise typer.Exit(error.code) from error


def _refuse_useless(name: str, settings: CliSettings) -> None:
    """Ends the program where an option names a cluster, which would have no effect."""
    others = [option.name for option in COMMON if option.name not in OFFLINE]
    useless = [f"--{other}" for other in others if getattr(settings, other) is not None]
    if not useless:
        return
    from bernstein.cli.errors import INVALID, CliError
    from bernstein.cli.output.terminal import Terminal

    message = f"{name} works without a cluster and takes no {', '.join(useless)}"
    remedy = "leave it out" if len(useless) == 1 else "leave them out"
    Terminal(settings).fail(CliError("Usage", message, remedy, INVALID))
    raise typer.Exit(INVALID)
