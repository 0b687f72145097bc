"""What holds for every command that is declared."""

from __future__ import annotations

import inspect
import json
import pkgutil
import sys
from itertools import pairwise
from types import ModuleType
from typing import Annotated

import pytest
import typer
from typer.core import TyperOption
from typer.testing import CliRunner

from bernstein.cli import commands
from bernstein.cli.commands import COMMANDS, GROUPS, Subcommand
from bernstein.cli.main import app, imported
from bernstein.cli.settings import OFFLINE, CliSettings

EVERY = pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
COMMON = ["--json", "--namespace", "--context", "--kubeconfig", "--workdir"]


def test_every_module_of_the_folder_is_a_command_and_every_command_a_module() -> None:
    rooms = {command.room for command in COMMANDS}
    modules = {
        ".".join(filter(None, (commands.__name__, room, found.name)))
        for room in rooms
        for found in pkgutil.iter_modules([f"{path}/{room}" for path in commands.__path__])
        if found.name not in rooms
    }
    assert modules == {command.module for command in COMMANDS}
    assert len({command.name for command in COMMANDS}) == len(COMMANDS)


@EVERY
def test_the_summary_is_the_first_line_of_the_help(command: Subcommand) -> None:
    assert (inspect.getdoc(command.function) or "").splitlines()[0] == command.summary


@EVERY
def test_a_command_starts_with_the_settings_and_declares_its_own_options_only(
    command: Subcommand,
) -> None:
    first, *own = inspect.signature(command.function, eval_str=True).parameters.values()
    assert first.annotation is CliSettings
    assert not {option.name for option in own} & {name.removeprefix("--") for name in COMMON}


@EVERY
def test_the_common_options_come_last_and_those_that_say_which_cluster_only_where_one_is_used(
    command: Subcommand,
) -> None:
    options = [p.opts[0] for p in imported(command).params if isinstance(p, TyperOption)]
    common = [c for c in COMMON if command.cluster or c.removeprefix("--") in OFFLINE]
    assert options[-len(common) :] == common
    assert not ({*COMMON} - {*common}) & {*options}


@EVERY
def test_the_help_of_a_command_can_be_asked_for(runner: CliRunner, command: Subcommand) -> None:
    long, short = (runner.invoke(app, [*command.words, option]) for option in ("--help", "-h"))

    assert (long.exit_code, short.exit_code) == (0, 0)
    assert long.stdout == short.stdout
    assert f"bernstein {command.name} " in long.stdout
    assert command.summary in " ".join(long.stdout.split())


@EVERY
def test_no_help_has_the_placeholder_of_a_type(runner: CliRunner, command: Subcommand) -> None:
    for words in ((), command.words[:1], command.words):
        assert "<" not in runner.invoke(app, [*words, "--help"]).stdout.replace("1<=x<=", "")


@EVERY
def test_the_words_of_a_help_break_where_the_line_is_full(
    runner: CliRunner, command: Subcommand
) -> None:
    shown = runner.invoke(app, [*command.words, "--help"], env={"COLUMNS": "80"}).stdout
    rows = [row.strip() for row in shown.partition("╭")[0].splitlines()][2:]
    for row, following in pairwise(rows):
        if row and following:
            assert len(f"{row} {following.split()[0]}") > 78, row


def test_the_help_lists_the_commands_with_their_summaries_in_their_order(
    runner: CliRunner,
) -> None:
    rows = runner.invoke(app, ["--help"]).stdout.partition("Commands")[2].splitlines()[1:-1]
    listed = [tuple(row.strip("│ ").split(maxsplit=1)) for row in rows if row.startswith("│")]
    told = ((c.words[0], GROUPS.get(c.words[0], c.summary)) for c in COMMANDS)
    assert listed == list(dict.fromkeys(told))


@pytest.mark.parametrize("group", GROUPS)
def test_the_help_of_a_group_lists_its_commands_with_their_summaries(
    runner: CliRunner, group: str
) -> None:
    helped = runner.invoke(app, [group, "--help"])
    alone = runner.invoke(app, [group])

    assert (helped.exit_code, alone.exit_code) == (0, 2)
    assert helped.stdout.strip() == alone.output.strip()
    assert GROUPS[group] in " ".join(helped.stdout.split())
    rows = helped.stdout.partition("Commands")[2].splitlines()[1:-1]
    listed = [row.strip("│ ").split(maxsplit=1) for row in rows if row.startswith("│")]
    its = [c for c in COMMANDS if c.words[0] == group]
    assert listed == [[command.words[1], command.summary] for command in its]


@pytest.fixture
def greet(monkeypatch: pytest.MonkeyPatch) -> Subcommand:
    """A command that is nothing but a module and a line."""

    def greet_all(
        settings: CliSettings,
        whom: str,
        loudly: Annotated[bool, typer.Option("--loudly", help="In capitals.")] = False,
    ) -> None:
        """Greets somebody.

        Ends with 0.
        """
        typer.echo(json.dumps([whom.upper() if loudly else whom, vars(settings)]))

    command = Subcommand("greet-all", "Greets somebody.")
    module = ModuleType(command.module)
    module.greet_all = greet_all  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, command.module, module)
    monkeypatch.setattr("bernstein.cli.main.COMMANDS", (*COMMANDS, command))
    return command


def test_a_command_needs_nothing_but_its_module_and_its_line(
    runner: CliRunner, greet: Subcommand
) -> None:
    listed = runner.invoke(app, ["--help"]).stdout
    helped = runner.invoke(app, [greet.name, "--help"]).stdout
    called = runner.invoke(
        app, ["--namespace", "a", "--context", "c", greet.name, "Ada", "-n", "b", "--loudly"]
    )

    assert f"{greet.name} " in listed
    assert "In capitals." in helped
    assert "Namespace (default: the kubeconfig's)." in helped
    assert json.loads(called.stdout) == [
        "ADA",
        {
            "json": False,
            "namespace": "b",
            "context": "c",
            "kubeconfig": None,
            "workdir": None,
        },
    ]
