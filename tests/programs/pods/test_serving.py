"""The launcher asks a service until it answers, and ends it, whatever it does."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.background import wait_for
from tests.programs.pods.launchers import compiled
from tests.programs.pods.test_launcher import launcher, lives

pytestmark = pytest.mark.verification

__all__ = ("launcher",)

STARTS_IN = 8
"""Seconds in which a service answers for the first time, however much else runs beside it."""
NOTES = """\
import os, socket, sys, time
def note(what, text):
    open(os.path.join(os.environ["NOTES"], what), "a").write(f"{text}\\n")
def listen(host="127.0.0.1"):
    return socket.create_server((host, int(os.environ["PORT"])))
def answer(server, *texts):
    for text in texts or [b"HTTP/1.0 200 OK\\r\\n\\r\\nfine"] * 1000:
        connection = server.accept()[0]
        connection.recv(4096)
        connection.sendall(text)
        connection.close()
note("pid", os.getpid())
"""


class Service:
    """A Python program that the launcher starts and asks."""

    def __init__(self, launcher: Path, folder: Path) -> None:
        self.launcher, self.folder = launcher, folder
        self.started: list[subprocess.Popen[bytes]] = []

    def start(self, code: str, *options: str) -> None:
        self.script = self.folder / "service.py"
        self.script.write_text(NOTES + textwrap.dedent(code))
        options = options or ("--ask-seconds", "20")
        call = [str(self.launcher), "--ask", "/health", *options, "--"]
        command = [sys.executable, str(self.script)]
        process = subprocess.Popen(
            [*call, *command],
            env={**os.environ, "NOTES": str(self.folder)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        self.started.append(process)

    def end(self) -> tuple[int, str]:
        """Exit code of the launcher, and its last line."""
        _, said = self.started[-1].communicate(timeout=60)
        lines = said.decode(errors="replace").splitlines() or [""]
        return self.started[-1].returncode, lines[-1].removeprefix("launcher: ")

    def run(self, code: str, *options: str) -> tuple[int, str]:
        self.start(code, *options)
        return self.end()

    def noted(self, what: str) -> list[str]:
        path = self.folder / what
        return path.read_text().split() if path.exists() else []

    def pids(self) -> list[int]:
        return [int(pid) for pid in self.noted("pid")]

    def left_by(self, careless: dict[str, str], code: str, *options: str) -> int:
        """How many processes such a launcher leaves; they are ended, and all notes are gone."""
        launcher, self.launcher = self.launcher, compiled(self.folder, careless)
        self.start(code, *options)
        self.started[-1].wait(timeout=60)
        left = [pid for pid in self.pids() if lives(pid)]
        for pid in left:
            os.kill(pid, signal.SIGKILL)
        self.end()
        for note in ("pid", "heard"):
            (self.folder / note).unlink(missing_ok=True)
        self.launcher = launcher
        return len(left)


@pytest.fixture
def service(launcher: Path, tmp_path: Path) -> Iterator[Service]:
    found = Service(launcher, tmp_path)
    yield found
    for process in found.started:
        if process.poll() is None:
            process.kill()
            process.communicate()


def all_gone(service: Service) -> bool:
    return not any(lives(pid) for pid in service.pids())


def test_a_service_that_answers_is_ended(service: Service) -> None:
    assert service.run("answer(listen())") == (0, "")
    assert len(service.pids()) == 1
    assert all_gone(service)


def test_one_that_listens_on_ipv6_alone_is_asked_there(service: Service) -> None:
    code = """
    server = socket.socket(socket.AF_INET6)
    server.bind(("::1", int(os.environ["PORT"])))
    server.listen()
    answer(server)
    """

    assert service.run(code) == (0, "")


OTHERS = """
answer(listen(), b"HTTP/1.0 503 Starting\\r\\n\\r\\n", b"", b"nothing of HTTP at all\\r\\n\\r\\n",
       b"HTTP/1.1 200 OK\\r\\nX-Text: the text\\r\\n\\r\\nnot yet",
       b"HTTP/1.1 200 OK\\r\\n\\r\\nhere is the text")
time.sleep(60)
"""


def test_it_is_asked_until_the_answer_is_as_asked_for(service: Service) -> None:
    assert service.run(OTHERS, "--ask-contains", "the text", "--ask-seconds", "30") == (0, "")


def test_a_text_is_found_however_it_comes(service: Service) -> None:
    code = """
    server = listen()
    while True:
        connection = server.accept()[0]
        try:
            for part in (b"HTT", b"P/1.1 20", b"0 OK\\r\\n\\r", b"\\nthe te", b"xt"):
                connection.sendall(part)
                time.sleep(0.05)
        except OSError:
            pass
    """

    assert service.run(code, "--ask-contains", "the text") == (0, "")


@pytest.mark.parametrize(
    ("code", "seconds", "said"),
    [
        ("time.sleep(60)", 2, "no answer in 2 s: nothing listens on the port in PORT"),
        ("listen(); time.sleep(60)", 2, "no answer in 2 s: nothing listens on the port in PORT"),
        (
            "answer(listen(), *[b'HTTP/1.0 500 No\\r\\n\\r\\n'] * 1000)",
            STARTS_IN,
            f"no answer as asked for in {STARTS_IN} s: the last answer had the status 500",
        ),
        (
            "answer(listen(), *[b'220 mail\\r\\n 200 and more of it'] * 1000)",
            STARTS_IN,
            f"no answer as asked for in {STARTS_IN} s: something answered, and not in HTTP",
        ),
        (
            "answer(listen())",
            STARTS_IN,
            f"no answer as asked for in {STARTS_IN} s: "
            "the last answer had the status 200, and not the text",
        ),
    ],
    ids=["silent", "never answers", "another status", "no HTTP", "without the text"],
)
def test_one_that_does_not_answer_in_time_is_ended(
    service: Service, code: str, seconds: int, said: str
) -> None:
    asks = ("--ask-contains", "text", "--ask-seconds", str(seconds))
    assert service.run(code, *asks) == (1, said)
    assert all_gone(service)


@pytest.mark.parametrize(
    ("code", "exit_code", "said"),
    [
        ("sys.exit(0)", 1, "the command ended with 0 before it answered"),
        ("sys.exit(3)", 1, "the command ended with 3 before it answered"),
        ("sys.exit(127)", 127, "the command ended with 127 before it answered"),
        ("os.kill(os.getpid(), 9)", 1, "the command was ended by signal 9 before it answered"),
    ],
)
def test_one_that_ends_has_not_answered(
    service: Service, code: str, exit_code: int, said: str
) -> None:
    assert service.run(code) == (exit_code, said)


def test_a_command_that_is_not_there_is_127(launcher: Path) -> None:
    done = subprocess.run(
        [str(launcher), "--ask", "/", "--", "sh", "-c", "no-such-command"],
        capture_output=True,
        check=False,
    )

    assert done.returncode == 127


# --- hostile ones -------------------------------------------------------------------------------

BELIEVES_WHO_ANSWERS = {"if (ended != child)": "if (ended)"}
LEAVES_OTHERS = {"kill_children();": "(void)kill_children;"}
ASKS_TO_END = {
    "kill(-group, SIGKILL)": "kill(-group, SIGTERM)",
    "atoi(entry->d_name), SIGKILL": "atoi(entry->d_name), SIGTERM",
}
TAKES_ANY_PORT = {
    "if (is_free(port, false) && is_free(port, true))": "if (is_free(port, false) || true)"
}


def test_what_outlives_its_command_is_not_believed_and_ended(
    service: Service, launcher: Path, tmp_path: Path
) -> None:
    code = """
    server, command = listen(), os.getpid()
    has_left, leaves = os.pipe()
    if os.fork():
        os.read(has_left, 1)
        os._exit(0)
    os.setsid()
    note("pid", os.getpid())
    os.write(leaves, b".")
    while os.getppid() == command:
        time.sleep(0.01)
    answer(server)
    """
    service.launcher = compiled(tmp_path, BELIEVES_WHO_ANSWERS)
    assert service.run(code) == (0, ""), "where nobody looks whether the command still runs"
    service.launcher = launcher

    assert service.run(code) == (1, "the command ended with 0 before it answered")
    assert len(service.pids()) == 2 + 2
    assert all_gone(service)


def test_all_that_it_has_forked_is_ended_also_what_left_its_group(service: Service) -> None:
    code = """
    for _ in range(3):
        if not os.fork():
            os.setsid()
            if not os.fork():
                note("pid", os.getpid())
                time.sleep(60)
            os._exit(0)
    while len(open(os.path.join(os.environ["NOTES"], "pid")).read().split()) < 4:
        time.sleep(0.01)
    answer(listen())
    """
    assert service.left_by(LEAVES_OTHERS, code) == 3, "where its group alone is ended"

    assert service.run(code) == (0, "")
    assert len(service.pids()) == 4
    assert all_gone(service)


def test_one_that_forks_without_end_is_ended(service: Service) -> None:
    code = """
    server, ends = listen(), time.monotonic() + 5
    if not os.fork():
        while time.monotonic() < ends:
            if not os.fork():
                note("pid", os.getpid())
                os.fork()
                time.sleep(60)
            time.sleep(0.01)
    answer(server)
    """

    code_, _ = service.run(code)

    assert code_ == 0
    assert all_gone(service)


TRAPS = """
import signal
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    signal.signal(number, lambda *_: note("heard", "signal"))
"""


def test_one_that_traps_sigterm_is_killed_and_what_it_answered_counts(service: Service) -> None:
    begun = time.monotonic()

    assert service.run(TRAPS + "answer(listen())\ntime.sleep(60)") == (0, "")

    assert service.noted("heard")
    assert all_gone(service)
    assert time.monotonic() - begun < 15


def test_one_that_traps_sigterm_and_is_late_is_killed_at_once(service: Service) -> None:
    deaf = TRAPS + "while True: time.sleep(60)"
    asked = service.left_by(ASKS_TO_END, deaf, "--ask-seconds", "5")
    assert asked == 1, "where it is asked to end"

    code, said = service.run(deaf, "--ask-seconds", "1")

    assert (code, said) == (1, "no answer in 1 s: nothing listens on the port in PORT")
    assert not service.noted("heard")
    assert all_gone(service)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_to_the_launcher_ends_all_of_it(service: Service, number: signal.Signals) -> None:
    service.start(TRAPS + "note('ready', 1)\nwhile True: time.sleep(60)")
    wait_for(lambda: bool(service.noted("ready")))

    service.started[-1].send_signal(number)

    assert service.end()[0] == 128 + number
    assert service.noted("heard")
    assert all_gone(service)


def test_an_answer_without_end_is_read_so_far(service: Service) -> None:
    code = """
    connection = listen().accept()[0]
    connection.sendall(b"HTTP/1.0 200 OK\\r\\n\\r\\n")
    try:
        while True:
            connection.sendall(b"x" * 65536)
    except OSError:
        time.sleep(60)
    """

    told = service.run(code, "--ask-contains", "text", "--ask-seconds", str(STARTS_IN))

    assert told[0] == 1
    assert told[1].endswith("the last answer had the status 200, and not the text")
    assert all_gone(service)


def test_an_answer_that_drips_ends_with_the_time_for_one(service: Service) -> None:
    code = """
    server = listen()
    while True:
        connection = server.accept()[0]
        try:
            for char in "HTTP/1.0 " * 1000:
                connection.sendall(char.encode())
                time.sleep(1)
        except OSError:
            pass
    """

    seconds = STARTS_IN + 5
    told = service.run(code, "--ask-seconds", str(seconds))

    assert told == (1, f"no answer as asked for in {seconds} s: the last answer did not end in 5 s")


SQUATS = """
import os, select, signal, socket, subprocess, sys
program, end, holders = sys.argv[1], int(sys.argv[2]), []
for first in range(20000, end, 400):
    told, tell = os.pipe()
    holders.append(os.fork())
    if not holders[-1]:
        held = [socket.socket() for _ in range(first, min(first + 400, end))]
        for port, server in enumerate(held, first):
            server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            server.bind(("0.0.0.0", port))
            server.listen()
        os.write(tell, b"1")
        while True:
            called = select.select(held, [], [])[0][0].accept()[0]
            if called.recv(4096):
                called.sendall(b"HTTP/1.0 200 OK\\r\\n\\r\\n")
            called.close()
    os.read(told, 1)
told = f"test $PORT -ge {end} && exit 9; exec sleep 60"
asks = [program, "--ask", "/", "--ask-seconds", "10", "--", "sh", "-c", told]
code = subprocess.run(asks).returncode
for holder in holders:
    os.kill(holder, signal.SIGKILL)
    os.waitpid(holder, 0)
sys.exit(code)
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="a network of its own needs root")
@pytest.mark.parametrize(
    ("careless", "end", "code", "said"),
    [
        (TAKES_ANY_PORT, "32768", 0, ""),
        ({}, "32768", 125, "launcher: no port is free\n"),
        ({}, "31000", 1, "launcher: the command ended with 9 before it answered\n"),
    ],
    ids=["where any port is taken", "everywhere", "nearly everywhere"],
)
def test_a_port_that_somebody_listens_on_is_never_chosen(
    tmp_path: Path, careless: dict[str, str], end: str, code: int, said: str
) -> None:
    """In a network of its own, where another one listens, which answers whoever comes."""
    launcher = compiled(tmp_path, careless)
    (tmp_path / "squats.py").write_text(SQUATS)
    up = 'ip link set lo up && exec python3 "$@"'

    done = subprocess.run(
        [
            *("unshare", "--net", "sh", "-c", up, "sh"),
            *(str(tmp_path / "squats.py"), str(launcher), end),
        ],
        capture_output=True,
        check=False,
        timeout=100,
    )

    assert (done.returncode, done.stderr.decode()) == (code, said)


def test_the_port_is_another_one_each_time(service: Service) -> None:
    ports: list[str] = []
    for _ in range(4):
        service.run("note('port', os.environ['PORT']); sys.exit(1)")
    ports += service.noted("port")

    assert len(set(ports)) > 1
    assert all(20000 <= int(port) <= 32767 for port in ports)


def test_wrong_numbers_are_refused(launcher: Path) -> None:
    for option in ("--ask-seconds", "--ask-status"):
        call = [str(launcher), "--ask", "/", option, "soon", "--", "true"]
        assert subprocess.run(call, capture_output=True, check=False).returncode == 125
