"""Looks into every container of a team's pods: when its program has been started, and whenever the
pod connects to the forge. It is held for as long as somebody looks."""

from __future__ import annotations

import contextlib
import fcntl
import socket
import tempfile
import threading
import zlib
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from bernstein.core import labels
from tests.background import wait_for
from tests.e2e.forges.conftest import Team
from tests.e2e.forges.inside import container
from tests.e2e.forges.inside.container import Container, Held

EVERY_SECONDS = 0.03
"""A program of ours needs some times as long to begin, and each look reads all of /proc."""
Who = tuple[str, str]
"""The kind of a Job, and the container."""
_TURNS = Path(tempfile.gettempdir()) / "bernstein-looks"
_SLOTS = 64
"""Files there; two containers may share one."""


@dataclass
class Looks:
    """What was found, and when nobody could be told."""

    found: dict[Who, set[frozenset[tuple[str, frozenset[str]]]]] = field(
        default_factory=lambda: defaultdict(set)
    )
    connected: set[Who] = field(default_factory=set)
    """Into which it was looked while its pod was connected to the forge."""
    faults: list[Exception] = field(default_factory=list)
    kills: set[str] = field(default_factory=set)
    """Kinds of which the first container that connects comes to an end there."""
    _team: Team | None = None
    _asking: threading.Lock = field(default_factory=threading.Lock)
    _begun: threading.Event = field(default_factory=threading.Event)
    _over: threading.Event = field(default_factory=threading.Event)
    _kinds: dict[str, str] = field(default_factory=dict)

    def begin(self, team: Team) -> None:
        """With this team; whoever has connected until now has waited."""
        self._team = team
        self._begun.set()

    def await_(self, *kinds: str) -> None:
        """Until such a pod has been looked into."""
        wait_for(lambda: set(kinds) <= {kind for kind, _ in [*self.found]}, 240)

    def held(self) -> dict[Who, list[Held]]:
        """Whatever a container of this kind was seen to hold, once each."""
        return {who: [dict(each) for each in [*found]] for who, found in [*self.found.items()]}

    def at_start(self) -> None:
        """Run beside the test: stops what is new, looks, lets it go on."""
        self._begun.wait()
        looked, before = set[tuple[str, str]](), set[int]()
        while not self._over.wait(EVERY_SECONDS):
            now = {*container.processes()}
            new, before = now - before, now
            for process in sorted(new):
                if container.is_being_made(process):
                    before.discard(process)
                    continue
                who = container.of_process(process)
                if who is not None and who not in looked:
                    looked.add(who)
                    # Beside it, as others begin and end within the time of a look.
                    given = ([Container(*who, (process,))],)
                    threading.Thread(target=self._noting, args=given, daemon=True).start()

    def at_connection(self, client: socket.socket, to: tuple[str, int]) -> None:
        """Looks into the pod that has connected, then pours to the forge and back."""
        self._begun.wait()
        with client, contextlib.suppress(OSError):
            network = container.that_connects(*client.getpeername())
            if network is not None:
                self._noting(container.running(network), connected=True)
            with socket.create_connection(to, 10) as server:
                threading.Thread(target=_pour, args=(server, client), daemon=True).start()
                _pour(client, server)

    def _noting(self, found: list[Container], *, connected: bool = False) -> None:
        for each in found:
            try:
                with _turn(each):
                    self._look(each, connected)
            except (httpx.HTTPError, AssertionError, LookupError, OSError, ValueError) as fault:
                self.faults.append(fault)

    def _look(self, into: Container, connected: bool) -> None:
        assert self._team is not None
        try:
            into.stop()
            kind = self._kind(into.pod)
            if kind is None:
                return
            held = into.holds(self._team.secrets)
            if not into.is_stopped():
                return
        finally:
            into.go_on()
        self.found[kind, into.name].add(frozenset(held.items()))
        if connected:
            self.connected.add((kind, into.name))
            if kind in self.kills:
                self.kills.discard(kind)
                into.kill()

    def _kind(self, pod: str) -> str | None:
        """The label of its Job; None: it is not of this team. What lands a Plan's work is a kind of
        its own, and so is what only looks whether something has landed."""
        with self._asking:
            if pod not in self._kinds:
                self._ask()
        return self._kinds.get(pod)

    def _ask(self) -> None:
        assert self._team is not None
        for each in self._team.all("pods"):
            own = each["metadata"]["labels"]
            kind = own.get(labels.JOB, own.get("app", ""))
            of_plan = kind == "land" and labels.TASK not in own
            volumes = {volume["name"] for volume in each["spec"]["volumes"]}
            if kind == "land" and "secret-deliver" not in volumes:
                kind = "land that looks"
            elif of_plan:
                kind = "land a plan"
            self._kinds[each["metadata"]["uid"]] = kind

    def end(self) -> None:
        self._over.set()
        self._begun.set()


@contextlib.contextmanager
def _turn(into: Container) -> Iterator[None]:
    """Nobody else of this machine looks into the container, who would let it go on: tests that run
    side by side see each other's."""
    _TURNS.mkdir(exist_ok=True)
    slot = zlib.crc32(f"{into.pod}/{into.name}".encode()) % _SLOTS
    with (_TURNS / str(slot)).open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@contextlib.contextmanager
def looking(host: str, *ports: int) -> Iterator[tuple[Looks, list[int]]]:
    """For each port of the forge another one of its address, at which whoever connects is looked
    into."""
    looks = Looks()
    with contextlib.ExitStack() as stack:
        doors = [stack.enter_context(socket.create_server((host, 0))) for _ in ports]
        beside = [threading.Thread(target=looks.at_start, daemon=True)]
        for door, port in zip(doors, ports, strict=True):
            given = (looks, door, (host, port))
            beside.append(threading.Thread(target=_accept, args=given, daemon=True))
        for each in beside:
            each.start()
        yield looks, [int(door.getsockname()[1]) for door in doors]
        looks.end()
        for door in doors:
            door.shutdown(socket.SHUT_RDWR)
        for each in beside:
            each.join(30)


def _accept(looks: Looks, door: socket.socket, to: tuple[str, int]) -> None:
    with contextlib.suppress(OSError):
        while True:
            client, _ = door.accept()
            threading.Thread(target=looks.at_connection, args=(client, to), daemon=True).start()


def _pour(source: socket.socket, to: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(1 << 16):
            to.sendall(data)
        to.shutdown(socket.SHUT_WR)
