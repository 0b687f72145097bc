"""The page of the command line lists every command and option, as the program has them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

import pytest
import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption
from typer.testing import CliRunner

from bernstein.cli.commands import COMMANDS
from bernstein.cli.errors import FAILED, INTERRUPTED, INVALID
from bernstein.cli.main import app, imported
from tests.unit.docs.pages import REFERENCE, ROOT, blocks

PAGE = REFERENCE / "cli.md"
README = ROOT / "README.md"
GROUP = typer.main.get_command(app)
HELP = {"-h", "--help"}
COMMON = "Options of every command"
CALLED = {command.name: imported(command) for command in COMMANDS}
WHICH_CLUSTER = {"--namespace", "-n", "--context", "--kubeconfig"}
EXCEPT = {command.name: WHICH_CLUSTER for command in COMMANDS if not command.cluster}
"""Common options that a command does not have."""


def options(command: TyperCommand | TyperGroup) -> set[str]:
    """Every spelling of the command's options; those for help come from the settings of all."""
    found = [p for p in command.params if isinstance(p, TyperOption)]
    return {name for option in found for name in (*option.opts, *option.secondary_opts)} | HELP


def section(title: str) -> str:
    found = re.search(
        rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", PAGE.read_text(), re.MULTILINE | re.DOTALL
    )
    assert found, f"no section '{title}'"
    return found[1]


def mentioned(title: str) -> set[str]:
    """Options in the first cells of a section's table."""
    cells = re.findall(r"^\| (`-[^|]*) \|", section(title), re.MULTILINE)
    return {word for cell in cells for word in re.findall(r"`(--?[A-Za-z-]+)", cell)}


def test_every_command_has_a_section_and_no_other_has() -> None:
    titles = re.findall(r"^## (\S.*)$", PAGE.read_text(), re.MULTILINE)
    assert [t for t in titles if t in CALLED] == list(CALLED)
    assert {t for t in titles if t.startswith("`")} == set()


def test_every_command_has_a_row_with_its_summary() -> None:
    listed = re.findall(r"^\| \[`(.*)`\]\(#(.*)\) \| (.*) \|$", section("Commands"), re.MULTILINE)
    told = [(c.name, "-".join(c.words), c.summary.removesuffix(".")) for c in COMMANDS]
    assert listed == told


def test_the_readme_names_every_command_that_works() -> None:
    (row,) = re.findall(r"^\| CLI \| works \| (.*) \|$", README.read_text(), re.MULTILINE)
    by_one_name = re.sub(r" \(also [^)]*\)", "", row)
    assert set(re.findall(r"`([a-z -]+)`", by_one_name)) == set(CALLED)


@pytest.mark.parametrize("name", CALLED)
def test_every_option_of_a_command_is_in_its_section(name: str) -> None:
    common = mentioned(COMMON)
    own = options(CALLED[name]) - common
    assert mentioned(name) == own
    assert common - EXCEPT.get(name, set()) - {"--version"} <= options(CALLED[name])
    assert not EXCEPT.get(name, set()) & options(CALLED[name])


def test_the_common_options_are_those_of_the_program() -> None:
    assert isinstance(GROUP, TyperGroup)
    assert set(GROUP.context_settings["help_option_names"]) == HELP
    assert mentioned(COMMON) == options(GROUP)


@pytest.mark.parametrize("name", CALLED)
def test_every_argument_is_in_the_synopsis(name: str) -> None:
    arguments = [p for p in CALLED[name].params if isinstance(p, TyperArgument)]
    for argument in arguments:
        metavar = (argument.metavar or (argument.name or "").upper()).strip("[]")
        assert re.search(
            rf"^ *bernstein {name} .*{re.escape(metavar)}", section(name), re.MULTILINE
        )


def test_the_exit_codes_are_on_the_page() -> None:
    text = section("Exit codes")
    for code in (0, FAILED, INVALID, INTERRUPTED):
        assert f"| `{code}` |" in text


def calls() -> Iterator[tuple[str, list[str]]]:
    """What pages show of the program in a shell: where, and its words up to a pipe or the like."""
    for block in blocks("console"):
        text = re.sub(r"\\\n\s*", " ", block.text)
        for line in re.findall(r"^\$ (?:kubectl )?bernstein (.+)$", text, re.MULTILINE):
            alone = re.split(r" (?:\||>|2>|&&|&)(?: |$)", line)[0]
            yield f"{block}: {line}", shlex.split(alone, comments=True)


def test_every_call_on_a_page_is_of_a_command_with_these_options() -> None:
    runner = CliRunner()
    asked = {place: runner.invoke(app, [*words, "--help"]) for place, words in calls()}

    assert len(asked) > 50
    assert {place: a.output for place, a in asked.items() if a.exit_code != 0} == {}
