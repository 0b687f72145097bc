"""The program `bernstein`, which imports a command only when that command is called."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from inspect import Parameter
from typing import Annotated, Any, Never

import typer
from typer._click.exceptions import UsageError
from typer._click.shell_completion import CompletionItem
from typer.completion import completion_init  # type: ignore[attr-defined]
from typer.core import TyperArgument, TyperCommand, TyperGroup
from typer.exceptions import TyperException

from bernstein.cli.commands import COMMANDS, GROUPS, Subcommand
from bernstein.cli.options import COMMON, reads_as, with_common_options
from bernstein.cli.settings import CliSettings
from bernstein.cli.shell import names, program


class _PlainHelp:
    """Shows no type of flags, which take no value, and of arguments, whose word says enough; usage
    lines have the brackets that people know, around what may be left out."""

    def get_params(self, ctx: Any) -> list[Any]:
        params: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for param in params:
            if isinstance(param, TyperArgument) or param.is_flag:
                param.display_type_rich = _no_type
            if isinstance(param, TyperArgument):
                param.get_usage_pieces = partial(_usage, param)  # type: ignore[method-assign]
            if kinds := names.kinds_of(param.metavar, param.opts):
                param.shell_complete = partial(_completed, kinds)
        return params


def _completed(kinds: tuple[str, ...], ctx: Any, incomplete: str) -> list[CompletionItem]:
    """Names of objects; the call may say by options before its command which cluster is asked."""
    given: dict[str, Any] = {}
    while ctx is not None:
        given = {**ctx.params, **{name: value for name, value in given.items() if value}}
        ctx = ctx.parent
    kind, slash, rest = incomplete.partition("/")
    if slash and kind in ("task", "plan"):
        found = names.completed((f"{kind}s",), given, rest)
        return [CompletionItem(f"{kind}/{each}") for each in found]
    return [CompletionItem(each) for each in names.completed(kinds, given, incomplete)]


def _no_type(ctx: object) -> None:
    del ctx


def _usage(argument: TyperArgument, ctx: object) -> list[str]:
    del ctx
    word = argument.metavar or argument.name.upper()
    return [word if argument.required or word.startswith("[") else f"[{word}]"]


class _Command(_PlainHelp, TyperCommand):
    """A command with all its options."""

    def make_context(self, *arguments: Any, **more: Any) -> Any:
        try:
            return super().make_context(*arguments, **more)
        except UsageError as error:
            # The library that typer reads values with puts this before its own sentence.
            error.message = error.message.removeprefix("Value error, ")
            raise


class _Group(_PlainHelp, TyperGroup):
    """A group of commands below the program, some of which are called by an option, too."""

    _options: Mapping[str, str] = {}
    """The word of a command by that option."""

    def call_by(self, usage: str, command: Subcommand) -> None:
        """Takes an option with its value, such as `--graph FILE`, for the command with it."""
        option, metavar = usage.split()
        self._options = {**self._options, option: command.words[-1]}
        self.params.append(_option(option, metavar, f"The same as `{command.name}`."))

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        first, equals, value = args[0].partition("=") if args else ("", "", "")
        if first in self._options:
            args = [self._options[first], *([value] if equals else []), *args[1:]]
        return super().parse_args(ctx, args)


def _option(name: str, metavar: str, summary: str) -> Any:
    """An option with a text for its value, as typer makes it of a function's parameter."""
    said = Annotated[str | None, typer.Option(name, metavar=metavar, help=summary)]
    parameter = Parameter("value", Parameter.KEYWORD_ONLY, default=None, annotation=said)

    def asked(**given: Any) -> None:
        del given

    only_this = typer.Typer(add_completion=False)
    only_this.command()(reads_as(asked, [parameter]))
    (made,) = (p for p in typer.main.get_command(only_this).params if p.name == "value")
    return made


class _Later(TyperCommand):
    """Stands for a command in the list of commands, without its options; when it is called it
    imports the command and passes the call on."""

    def __init__(self, command: Subcommand, name: str | None = None) -> None:
        super().__init__(name or command.name, help=command.summary)
        self._command = command

    def make_context(self, *arguments: Any, **more: Any) -> Any:
        return imported(self._command).make_context(*arguments, **more)


def imported(command: Subcommand) -> TyperCommand:
    """A command with all its options."""
    function = with_common_options(command.function, name=command.name, cluster=command.cluster)
    only_this = typer.Typer(add_completion=False)
    only_this.command(command.name, cls=_Command)(function)
    with_options = typer.main.get_command(only_this)
    assert isinstance(with_options, TyperCommand)
    return with_options


class _Program(_PlainHelp, TyperGroup):
    """The group of all commands. With `--json` it answers wrong calls in JSON, too."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes | {"commands": [*_listed(), *_other_names()]})

    def main(self, args: Sequence[str] | None = None, *others: Any, **more: Any) -> Any:
        arguments = sys.argv[1:] if args is None else list(args)
        if "--json" not in arguments:
            return super().main(args, *others, **more)
        try:
            code = super().main(arguments, *others, **more | {"standalone_mode": False})
        except TyperException as error:
            _refuse(error)
        sys.exit(code or 0)


def _listed() -> list[_Later | _Group]:
    """Commands and groups; a group stands where its first command does."""
    groups: dict[str, _Group] = {}
    listed: list[_Later | _Group] = []
    for command in COMMANDS:
        first, *rest = command.words
        if not rest:
            listed.append(_Later(command))
            continue
        if first not in groups:
            groups[first] = _Group(name=first, help=GROUPS[first], no_args_is_help=True)
            listed.append(groups[first])
        groups[first].add_command(_Later(command, *rest))
        if command.alias is not None and command.alias[0] == first:
            groups[first].call_by(command.alias[1], command)
    return listed


def _other_names() -> list[_Group]:
    """Groups that no help lists, with the commands that have a name of two words besides."""
    groups: dict[str, list[_Later]] = {}
    for command in COMMANDS:
        if command.alias is not None and command.alias[0] not in GROUPS:
            group, name = command.alias
            groups.setdefault(group, []).append(_Later(command, name))
    return [
        _Group(name=group, commands=commands, hidden=True, no_args_is_help=True)
        for group, commands in groups.items()
    ]


def _refuse(error: TyperException) -> Never:
    from bernstein.cli.errors import CliError
    from bernstein.cli.output.terminal import Terminal

    remedy = f"see: {program.name()} --help"
    usage = CliError("Usage", error.format_message(), remedy, error.exit_code)
    Terminal(CliSettings(json=True)).fail(usage)
    sys.exit(usage.code)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"bernstein {version('bernstein')}")
        raise typer.Exit


_VERSION = Parameter(
    "version",
    Parameter.KEYWORD_ONLY,
    default=False,
    annotation=Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Version.")
    ],
)


def _before(ctx: typer.Context, version: bool, **common: Any) -> None:
    """Takes the options that stand before the command."""
    del version
    ctx.obj = CliSettings(**common)


app = typer.Typer(
    name="bernstein",
    cls=_Program,
    help="Coding agents on Kubernetes as declared, verified, budgeted work.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.callback()(reads_as(_before, [*COMMON, _VERSION]))


def main() -> None:
    """Console script."""
    if program.COMPLETION in os.environ:  # a shell asks what a word could become
        completion_init()
    app(prog_name=program.name())


def complete_plugin() -> None:
    """Console script that kubectl asks: its arguments are the words behind the plugin's name, the
    last of them the one that is typed. It answers in the way of kubectl's own completion: a word
    for each line, and in the last line whether files could be meant, too."""
    from typer._completion_classes import BashComplete

    *before, incomplete = sys.argv[1:] or [""]
    command = typer.main.get_command(app)
    asked = BashComplete(command, {}, program.name(), program.COMPLETION)
    try:
        found = asked.get_completions(before, incomplete)
    except TyperException:
        found = []  # what stands before is no call
    for item in found:
        typer.echo(f"{item.value}\t{item.help}" if item.help else item.value)
    typer.echo(_NO_FILES if found else _FILES_TOO)


_FILES_TOO, _NO_FILES = ":0", ":4"
"""Directives of cobra, which kubectl is made with."""
