"""`bernstein plan generate`"""

from __future__ import annotations

import os
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from bernstein.cli.duration import Timeout, seconds_of
from bernstein.cli.errors import INVALID, CliError
from bernstein.cli.local import repository
from bernstein.cli.local.writing import File, refuse_existing, write
from bernstein.cli.models import asking
from bernstein.cli.models.choice import PROVIDER, Choice, choose
from bernstein.cli.output import drafts
from bernstein.cli.output.drafts import Draft
from bernstein.cli.output.terminal import Terminal, run_command
from bernstein.cli.plan_source import PlanFile
from bernstein.cli.settings import CliSettings
from bernstein.core.drafts import answer as answers
from bernstein.core.drafts import asking as questions
from bernstein.core.drafts import context
from bernstein.core.drafts.answer import NoPlan
from bernstein.core.judging.model_reasons import NOT_IN_FORM
from bernstein.core.plans import file as plan_file
from bernstein.core.plans.field_errors import quoted
from bernstein.core.plans.file import PlanSyntaxError
from bernstein.core.plans.validation import validate_file
from bernstein.core.sanitise import count, line, text, visible
from bernstein.llm.client import Limits
from bernstein.llm.providers import BY_NAME
from bernstein.llm.question import Answer, Question

_FOLDER = "plans"
_SHOWN = 2000
"""Characters of an answer that is no plan."""
_LEAST_TOKENS, _MOST_TOKENS = 256, 64_000


def _text(*flags: str, metavar: str, words: str) -> Any:
    return typer.Option(*flags, metavar=metavar, help=words)


Said = str | None
Goal = Annotated[str, typer.Argument(metavar="TEXT", help="What the plan is to achieve.")]
Model = Annotated[
    Said, _text("--model", metavar="NAME", words="The provider's name of it (default: Haiku 4.5).")
]
Provider = Annotated[str, _text("--provider", metavar="|".join(BY_NAME), words="Who is asked.")]
Output = Annotated[
    Said,
    _text("--output", "-o", metavar="FILE", words="Default: a file in the folder plans."),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Print the plan, and write nothing.")]
Force = Annotated[bool, typer.Option("--force", help="Overwrite the file where it is there.")]
KeyFile = Annotated[
    Said,
    _text("--api-key-file", metavar="FILE", words="With the key (default: the environment's)."),
]
BaseUrl = Annotated[
    Said,
    _text("--base-url", metavar="URL", words="Of the API (default: the provider's own)."),
]
MaxTokens = Annotated[
    int, _text("--max-tokens", metavar="NUMBER", words="That the answer may have.")
]


def generate(
    settings: CliSettings,
    goal: Goal,
    model: Model = None,
    provider: Provider = PROVIDER,
    output: Output = None,
    dry_run: DryRun = False,
    force: Force = False,
    api_key_file: KeyFile = None,
    base_url: BaseUrl = None,
    max_tokens: MaxTokens = questions.MAX_TOKENS,
    timeout: Timeout = "2m",
) -> None:
    """Drafts a plan file with a model; it runs nothing.

    The model is told what the plan is to achieve, which files git knows in the folder, and how its
    README and the files begin that say how it is built. Read the draft and correct it before you
    run it: what is wrong with it is told, and it is written all the same.

    Ends with 1 when the model has given no plan, and with 2 when the call is wrong.
    """
    terminal = Terminal(settings)
    options = _Options(
        model, provider, output, dry_run, force, api_key_file, base_url, max_tokens, timeout
    )
    run_command(terminal, _generate(terminal, goal, options))


@dataclass(frozen=True)
class _Options:
    model: str | None
    provider: str
    output: str | None
    dry_run: bool
    force: bool
    api_key_file: str | None
    base_url: str | None
    max_tokens: int
    timeout: str | None


async def _generate(terminal: Terminal, given: str, options: _Options) -> None:
    goal = _goal(given)
    if not _LEAST_TOKENS <= options.max_tokens <= _MOST_TOKENS:
        problem = f"an answer of {count(options.max_tokens, 'token')} is not asked for"
        remedy = f"give --max-tokens a number from {_LEAST_TOKENS} to {_MOST_TOKENS}"
        raise CliError("Usage", problem, remedy, INVALID)
    folder = _folder(terminal.settings.workdir)
    limits = Limits(seconds=seconds_of(options.timeout) or 0, answer_bytes=2 * answers.LONGEST)
    choice = choose(
        options.provider, options.model, options.api_key_file, options.base_url, os.environ
    )
    path = Path(options.output) if options.output else folder / _FOLDER / answers.file_name(goal)
    if not options.dry_run:
        # Before it costs anything.
        refuse_existing(path.parent, [path.name], force=options.force)
    seen = await repository.look(folder)
    sections = context.sections(seen)
    asked = questions.ask(goal, sections, lambda: secrets.token_hex(16), options.max_tokens)
    question = Question(asked.system, asked.text, options.max_tokens, questions.TEMPERATURE)
    answer = await asking.ask(terminal, choice, question, limits)
    content, data = _plan(terminal, choice, answer, goal)
    file = PlanFile(str(path), data, validate_file(data))
    draft = Draft(path, content, file, choice, answer, not options.dry_run)
    if draft.is_written:
        _write(terminal, draft, options)
    drafts.tell(terminal, draft)


def _goal(given: str) -> str:
    goal = visible(given).strip()
    if not goal:
        problem = "nothing was said that a plan could be for"
        raise CliError("Usage", problem, "say in a few words what it is to achieve", INVALID)
    size = len(goal.encode())
    if size > questions.LONGEST:
        problem = f"what was said has {size:,} bytes, and {questions.LONGEST:,} are allowed"
        raise CliError("Usage", problem, "say it in fewer words", INVALID)
    return goal


def _folder(workdir: str | None) -> Path:
    folder = Path(workdir if workdir is not None else ".")
    if not folder.is_dir():
        remedy = "name another one with --workdir, or leave it out"
        raise CliError("Usage", f"there is no folder {quoted(str(folder))}", remedy, INVALID)
    return folder


def _plan(terminal: Terminal, choice: Choice, answer: Answer, goal: str) -> tuple[str, object]:
    """The text of the file, and what it holds. Raises CliError where there is no plan in the
    answer, which is shown: it was paid for."""
    whose = f"{choice.model} ({choice.provider})"
    comments = (
        f"Drafted by {whose} for: {line(goal, 200)}",
        "Read it and correct it; `bernstein validate` says what is wrong with it.",
    )
    try:
        plan = answers.with_defaults(answers.plan_of(answer.text), goal)
        content = answers.written(plan, comments)
        return content, plan_file.parse(content)
    except (NoPlan, PlanSyntaxError) as problem:
        for row in text(answer.text, _SHOWN).split("\n"):
            terminal.complain(f"> {row}", "dim")
        said = f"what {whose} has answered is no plan: {line(str(problem), 300)}"
        remedy = "say more of what you want, or name another model with --model"
        raise CliError(NOT_IN_FORM, said, remedy) from None


def _write(terminal: Terminal, draft: Draft, options: _Options) -> None:
    """Raises CliError; then the plan is shown instead: it was paid for."""
    try:
        file = File(draft.path.name, draft.content)
        write(draft.path.parent, [file], force=options.force)
    except CliError:
        for row in draft.content.rstrip("\n").split("\n"):
            terminal.quote(row)
        raise
