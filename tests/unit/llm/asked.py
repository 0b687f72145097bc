"""A client over a transport of the test's own, in virtual time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import httpx

from bernstein.llm.allowance import Allowance, Ceiling
from bernstein.llm.client import Client, Limits, Surroundings
from bernstein.llm.endpoint import Endpoint
from bernstein.llm.question import Answer, Question

KEY = "sk-the-key-0123456789"
QUESTION = Question("You judge a change.", 'Is it right? "ü"\nYes or no.')
MODEL = "claude-sonnet-4-20250514"
NOW = 1_700_000_000.0

Handler = Callable[[httpx.Request], httpx.Response | Awaitable[httpx.Response]]


def answered(text: str = "yes", **usage: Any) -> httpx.Response:
    """Of Anthropic."""
    told = {"input_tokens": 20, "output_tokens": 3, **usage}
    content = [{"type": "text", "text": text}]
    return httpx.Response(
        200,
        json={"type": "message", "content": content, "stop_reason": "end_turn", "usage": told},
    )


def refused(status: int, kind: str = "api_error", text: str = "", **headers: str) -> httpx.Response:
    """Of Anthropic."""
    body = {"type": "error", "error": {"type": kind, "message": text}}
    return httpx.Response(status, json=body, headers=headers)


@dataclass
class World:
    """Answers each request as it is told, and knows what happened."""

    key_file: Path
    answers: list[httpx.Response | Exception] = field(default_factory=list)
    """One a request; the last one stays."""
    endpoint: Endpoint = field(init=False)
    limits: Limits = field(default_factory=Limits)
    ceiling: Ceiling = field(default_factory=Ceiling)
    requests: list[httpx.Request] = field(default_factory=list)
    waits: list[float] = field(default_factory=list)
    notes: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    time: float = 0.0
    takes: float = 0.0
    """Seconds of each request."""

    def __post_init__(self) -> None:
        self.key_file.write_text(f"{KEY}\n")
        self.endpoint = Endpoint("anthropic", str(self.key_file))
        self.allowance = Allowance(self.ceiling)

    def at(self, **changes: Any) -> None:
        """Another endpoint."""
        self.endpoint = replace(self.endpoint, **changes)

    def may_use(self, **ceiling: int) -> None:
        self.allowance = Allowance(Ceiling(**ceiling))

    def client(self) -> Client:
        around = Surroundings(
            clock=lambda: self.time,
            now=lambda: NOW + self.time,
            sleep=self._sleep,
            chance=lambda: 1.0,
            note=lambda name, **values: self.notes.append((name, values)),
        )
        transport = httpx.MockTransport(self._answer)
        return Client(
            self.endpoint,
            self.allowance,
            limits=self.limits,
            transport=transport,
            surroundings=around,
        )

    async def ask(self, question: Question = QUESTION, model: str = MODEL) -> Answer:
        async with self.client() as client:
            return await client.ask(model, question)

    async def _sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.time += seconds

    async def _answer(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        self.time += self.takes
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        await asyncio.sleep(0)
        if not answer.is_stream_consumed:
            return answer
        # As the network gives it: not read yet.
        stream = httpx.ByteStream(answer.content)
        return httpx.Response(answer.status_code, headers=answer.headers, stream=stream)
