"""Servers that a client talks to over the network: the scripted endpoint, and rude ones."""

from __future__ import annotations

import json
import re
import socket
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from tests.stub_llm import scenario
from tests.stub_llm.server import Endpoint

KEY = "sk-stub-0123456789"
SCRIPT = f"""
require_key: {KEY}
scenarios:
  - name: question
    match: "[question]"
    turns: [{{text: "yes", usage: {{input: 50, output: 9, cache_read: 20, reasoning: 4}}}}]
  - name: busy
    match: "[busy]"
    turns:
      - errors: [{{status: 429, retry_after: 1, message: slow down}}, {{status: 0}}]
        text: "yes"
  - name: limited
    match: "[limited]"
    turns: [{{errors: [{{status: 429, times: -1, retry_after: 60}}]}}]
  - {{name: drip, match: "[drip]", turns: [{{drip: 0.05, text: "yes"}}]}}
  - {{name: endless, match: "[endless]", turns: [{{endless: true}}]}}
  - {{name: silent, match: "[silent]", turns: [{{delay: 30, text: "yes"}}]}}
"""


@dataclass(frozen=True)
class _Obedient(scenario.Script):
    """A model that does what it is told, if it takes that for no data."""

    order: str = ""
    then: str = ""
    otherwise: str = ""

    def choose(self, messages: Sequence[str], _: str = "") -> tuple[scenario.Scenario, int]:
        told = self.order in _outside_of_data(messages[-1])
        answer = self.then if told else self.otherwise
        return scenario.Scenario("obedient", (scenario.Turn(text=answer),)), len(messages) - 1


def _outside_of_data(question: str) -> str:
    lines = question.splitlines()
    found = re.search(r"(\S+) begin: ", question)
    assert found is not None
    mark, kept, inside = found[1], [], False
    for line in lines:
        if mark in line:
            inside = f"{mark} begin: " in line
        elif not inside:
            kept.append(line)
    return "\n".join(kept)


class Scripted:
    """The scripted endpoint of the tests, in this process."""

    def __init__(self, address: str, tls: Path | None) -> None:
        self._http = Endpoint((address, 0), scenario.parse(SCRIPT))
        if tls is not None:
            self._http.speak_tls(tls)
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,))

    @classmethod
    @contextmanager
    def running(cls, address: str = "127.0.0.1", tls: Path | None = None) -> Iterator[Self]:
        """`tls`: file with certificate and key."""
        server = cls(address, tls)
        server._thread.start()
        try:
            yield server
        finally:
            server._http.state.reset()
            server._http.shutdown()
            server._http.server_close()
            server._thread.join()

    @property
    def port(self) -> int:
        return int(self._http.server_address[1])

    def says(self, match: str, text: str) -> None:
        """Answers with this where the question has `match` in it."""
        self.plays({match: text})

    def plays(self, texts: Mapping[str, str], errors: Sequence[Mapping[str, Any]] = ()) -> None:
        """Answers with each text where the question has its word in it, after these errors."""
        script = {
            "scenarios": [
                {"name": match, "match": match, "turns": [{"text": text, "errors": [*errors]}]}
                for match, text in texts.items()
            ]
        }
        self._http.state.script = scenario.parse(json.dumps(script))

    def plays_turn(self, turn: Mapping[str, Any]) -> None:
        """Answers every question with this turn, to whoever has the key."""
        script = {"require_key": KEY, "scenarios": [{"name": "turn", "turns": [turn]}]}
        self._http.state.script = scenario.parse(json.dumps(script))

    def plays_to(self, asked: str, texts: Mapping[str, str]) -> None:
        """Answers questions with `asked` in them: with each text whoever was told its words."""
        script = {
            "scenarios": [
                {"name": told, "match": asked, "told": told, "turns": [{"text": text}]}
                for told, text in texts.items()
            ]
        }
        self._http.state.script = scenario.parse(json.dumps(script))

    def obeys(self, order: str, then: str, otherwise: str) -> None:
        """Answers `then` where this order stands outside of the data in a question, which a line
        with its own mark begins and another one ends; to every other question `otherwise`."""
        self._http.state.script = _Obedient(order=order, then=then, otherwise=otherwise)

    @property
    def rows(self) -> list[dict[str, Any]]:
        """What was asked and answered, oldest first."""
        with self._http.state.lock:
            return list(self._http.state.rows)


Behaviour = Callable[[socket.socket, threading.Event], None]


@contextmanager
def rude(behave: Behaviour) -> Iterator[int]:
    """A port. `behave` gets every connection, once a request is there, and an event for its end."""
    over = threading.Event()
    listener = socket.create_server(("127.0.0.1", 0))
    threads: list[threading.Thread] = []

    def talk(connection: socket.socket) -> None:
        with connection:
            connection.recv(64 << 10)
            try:
                behave(connection, over)
            except OSError:
                return  # the client has gone, as it should

    def listen() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            thread = threading.Thread(target=talk, args=(connection,))
            threads.append(thread)
            thread.start()

    listening = threading.Thread(target=listen)
    listening.start()
    try:
        yield int(listener.getsockname()[1])
    finally:
        over.set()
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        for thread in (listening, *threads):
            thread.join()
