"""The client as a program has it: over the network, by the real clock."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bernstein.llm.allowance import Allowance, Ceiling
from bernstein.llm.client import Client, Limits
from bernstein.llm.endpoint import Endpoint
from bernstein.llm.question import Answer, Question
from tests.programs.llm.servers import KEY, Scripted


class Asking:
    def __init__(self, key_file: Path) -> None:
        key_file.write_text(KEY)
        self._key_file = str(key_file)
        self.allowance = Allowance(Ceiling())

    async def put(self, server: Scripted, question: Question, provider: str) -> Answer:
        """A question of the test's own."""
        where = Endpoint(provider, self._key_file, f"http://127.0.0.1:{server.port}")
        async with Client(where, self.allowance) as client:
            return await client.ask("some-model", question)

    async def ask(
        self,
        base_url: str,
        text: str = "[question]",
        *,
        provider: str = "anthropic",
        limits: Limits | None = None,
        **endpoint: Any,
    ) -> Answer:
        where = Endpoint(provider, self._key_file, base_url, **endpoint)
        async with Client(where, self.allowance, limits=limits) as client:
            return await client.ask("some-model", Question("You answer.", text))
