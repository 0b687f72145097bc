"""One question to a model, while the person at the terminal waits for the answer."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from bernstein.cli.models.choice import Choice
from bernstein.cli.models.failures import explained
from bernstein.cli.output.terminal import Terminal
from bernstein.core.sanitise import line
from bernstein.llm.allowance import Allowance, Ceiling
from bernstein.llm.client import Client, Limits, Surroundings
from bernstein.llm.errors import ModelError
from bernstein.llm.question import Answer, Question

_LONGEST = 200


async def ask(terminal: Terminal, choice: Choice, question: Question, limits: Limits) -> Answer:
    """The whole answer; meanwhile it is shown on standard error what is waited for. Raises
    CliError."""
    ceiling = Ceiling(output_tokens=limits.attempts * question.max_tokens)

    def note(name: str, **values: str | float | bool | None) -> None:
        if name == "model-failed" and values.get("again"):
            message = line(f"{values['message']} ({values['reason']})", _LONGEST)
            wait = f"it is asked again in {values['after_seconds']} s"
            terminal.complain(f"! {message}: {wait}", "yellow")

    around = Surroundings(note=note)
    try:
        host = choice.endpoint.host
        with _waiting(terminal, f"Asking {line(choice.model, 100)} at {host}"):
            allowed = Allowance(ceiling)
            client = Client(choice.endpoint, allowed, limits=limits, surroundings=around)
            async with client:
                return await client.ask(choice.model, question)
    except ModelError as error:
        raise explained(error, choice) from None


@contextmanager
def _waiting(terminal: Terminal, message: str) -> Iterator[None]:
    """On a terminal it moves, and goes away; elsewhere it is one line."""
    if not terminal.err.is_terminal:
        terminal.complain(f"{message} ...", "dim")
        yield
        return
    with terminal.err.status(message):
        yield
