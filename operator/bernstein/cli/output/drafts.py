"""Shows the draft of a plan file: where it is, what is wrong with it, and what it has cost."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from bernstein.api.meta import UsageCounts
from bernstein.cli.models.choice import Choice
from bernstein.cli.output import plan_files
from bernstein.cli.output.terminal import Terminal
from bernstein.cli.plan_source import PlanFile
from bernstein.cli.settings import CliSettings
from bernstein.core.drafts import rough
from bernstein.core.money import pricing
from bernstein.core.outlines import words
from bernstein.core.plans.estimate import estimate
from bernstein.core.sanitise import count
from bernstein.core.serializers import Document
from bernstein.llm.question import Answer


@dataclass(frozen=True)
class Draft:
    """A plan file, and the answer that it was made of."""

    path: Path
    content: str
    file: PlanFile
    """The same as `bernstein validate` reads it."""
    choice: Choice
    answer: Answer
    is_written: bool

    @property
    def tokens(self) -> UsageCounts:
        used = self.answer.usage
        return UsageCounts(
            input=used.input,
            output=used.output,
            cache_read=used.cache_read,
            cache_write=used.cache_write,
        )

    @property
    def dollars(self) -> str | None:
        """What the answer has cost; None: the model has no price."""
        price = pricing.price_of(self.choice.model)
        return None if price is None else pricing.money(pricing.cost(self.tokens, price))


def tell(terminal: Terminal, draft: Draft) -> None:
    """Says all of it; what was not written is printed. With `--json` all is the answer."""
    say = terminal.say if draft.is_written else terminal.complain
    if not draft.is_written and not terminal.json:
        terminal.out.out(draft.content.rstrip("\n"), highlight=False)
    if draft.is_written:
        say(f"✓ {draft.path}", "green")
    summary, found = _checked(terminal, draft.file)
    say(f"  {summary}")
    say(f"  {_paid(draft)}", "dim")
    following = _next(terminal.settings, draft) if draft.is_written else []
    if following:
        say("Nothing was run. Read it and correct it, then:")
    for command in following:
        terminal.quote(f"  {command}")
    if terminal.json:
        terminal.answer(_record(draft, following) | found)


def _checked(terminal: Terminal, file: PlanFile) -> tuple[str, Document]:
    """Tells what is wrong with it; returns what it will take, in words, and all as JSON."""
    errors = file.field_errors.errors
    if not errors:
        guess = estimate(file.spec)
        warnings = plan_files.tell_warnings(terminal, file, guess)
        return words.summary(file.spec, guess), plan_files.valid_record(guess, warnings)
    warnings = tuple(w for w in file.field_errors.warnings if w not in errors)
    plan_files.tell_each(terminal, (*warnings, *errors))
    cost = rough.cost(file.data)
    about = f", about ${float(cost):.2f} for its steps" if cost else ""
    found = {
        "estimate": {
            "minutes": None,
            "cost_usd": float(cost) if cost else None,
            "basis": "steps by scope and complexity, as far as they can be read",
        }
    }
    told = f"{count(len(errors), 'problem')} to correct before it runs{about}"
    return told, plan_files.record(errors, warnings) | found


def _paid(draft: Draft) -> str:
    used, most = draft.tokens, "" if draft.answer.exact else "at most "
    read = used.input + used.cache_read + used.cache_write
    money = f", ${draft.dollars}" if draft.dollars else ""
    return f"{draft.choice.model}: {most}{read:,} tokens read, {used.output:,} written{money}"


def _next(settings: CliSettings, draft: Draft) -> list[str]:
    where = ["--workdir", settings.workdir] if settings.workdir is not None else []
    return [
        settings.command_line("validate", str(draft.path)),
        settings.command_line("run", *where, "--from-plan", str(draft.path)),
    ]


def _record(draft: Draft, following: list[str]) -> Document:
    content = {} if draft.is_written else {"content": draft.content}
    return {
        "path": str(draft.path),
        "written": draft.is_written,
        **content,
        "model": draft.choice.model,
        "provider": draft.choice.provider,
        "tokens": draft.tokens.model_dump(),
        "exact": draft.answer.exact,
        "paid_usd": float(draft.dollars) if draft.dollars else None,
        "next": following,
    }
