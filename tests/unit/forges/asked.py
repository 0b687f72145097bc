"""A client over a transport of the test's own, in virtual time."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import httpx

from bernstein.forges.client import Client, Limits, Surroundings
from bernstein.forges.forge import Forge

TOKEN = "token-0123456789-0123456789"
NOW = 1_700_000_000.0


@dataclass
class World:
    """Answers each request as it is told, and knows what happened."""

    token_file: Path
    answers: list[httpx.Response | Exception] = field(default_factory=list)
    """One a request; the last one stays."""
    limits: Limits = field(default_factory=Limits)
    requests: list[httpx.Request] = field(default_factory=list)
    waits: list[float] = field(default_factory=list)
    time: float = 0.0

    def __post_init__(self) -> None:
        self.token_file.write_text(f"{TOKEN}\n")

    def client(self, forge: Forge, url: str, api: str | None = None) -> Client:
        around = Surroundings(lambda: self.time, lambda: NOW + self.time, self._sleep, lambda: 1.0)
        return Client(
            forge,
            url,
            str(self.token_file),
            api=api,
            limits=self.limits,
            transport=httpx.MockTransport(self._answer),
            surroundings=around,
        )

    def _answer(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        # As the network gives it: not read yet.
        stream = httpx.ByteStream(answer.content)
        return httpx.Response(answer.status_code, headers=answer.headers, stream=stream)

    async def _sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.time += seconds
