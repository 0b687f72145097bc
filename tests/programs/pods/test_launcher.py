"""The launcher, compiled and driven for real."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.background import wait_for
from tests.programs.pods.launchers import compiled


@pytest.fixture(scope="session")
def launcher(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled(tmp_path_factory.mktemp("launcher"))


@dataclass
class Launch:
    """One call of the launcher with all its files in one folder."""

    program: Path
    folder: Path
    options: dict[str, str] = field(default_factory=dict)
    started: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def start(self, *command: str) -> subprocess.Popen[bytes]:
        files = {n: str(self.folder / n) for n in ("stdout", "stderr", "exit-record", "stop-file")}
        options = files | {"int-seconds": "30", "term-seconds": "30"} | self.options
        flags = [word for name, value in options.items() for word in (f"--{name}", value)]
        process = subprocess.Popen(
            [str(self.program), *flags, "--", *command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.started.append(process)
        return process

    def echo(self) -> Path:
        """The file to copy from."""
        for name in ("echo", "echo-end"):
            self.options[name] = str(self.folder / name)
        return self.folder / "echo"

    def heard(self, process: subprocess.Popen[bytes], length: int) -> bytes:
        """The next bytes of the container's log."""
        assert process.stdout is not None
        return process.stdout.read(length)

    def run(self, *command: str) -> tuple[int, bytes]:
        process = self.start(*command)
        _, said = process.communicate(timeout=60)
        return process.returncode, said

    def record(self) -> dict[str, object]:
        record = json.loads((self.folder / "exit-record").read_bytes())
        assert isinstance(record, dict)
        return record

    def output(self) -> bytes:
        path = self.folder / "stdout"
        return path.read_bytes() if path.exists() else b""

    def stop(self) -> None:
        (self.folder / "stop-file").touch()


@pytest.fixture
def launch(launcher: Path, tmp_path: Path) -> Iterator[Launch]:
    launch = Launch(launcher, tmp_path)
    yield launch
    for process in launch.started:
        process.kill()
        process.communicate()


def lives(pid: int) -> bool:
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except FileNotFoundError:
        return False
    return text.rsplit(")", 1)[1].split()[0] != "Z"


PYTHON = [sys.executable, "-I", "-S", "-c"]
STUBBORN = """
import signal, time
for number in ({signals}):
    signal.signal(number, signal.SIG_IGN)
print("up", flush=True)
time.sleep(60)
"""
POLITE = """
import time
try:
    print("up", flush=True)
    time.sleep(60)
except KeyboardInterrupt:
    print("interrupted")
"""
LEAVES_ORPHANS = """
import os, signal, time
def leave(new_session):
    reader, writer = os.pipe()
    if os.fork() == 0:
        if new_session:
            os.setsid()
        if os.fork() == 0:
            for number in (1, 2, 15):
                signal.signal(number, signal.SIG_IGN)
            inner = os.fork()
            if inner == 0:
                time.sleep(60)
            os.write(writer, b"%d %d\\n" % (os.getpid(), inner))
            time.sleep(60)
        os._exit(0)
    os.close(writer)
    print(os.read(reader, 100).decode(), end="", flush=True)
leave(False)
leave(True)
"""
INT, TERM = "signal.SIGINT,", "signal.SIGTERM,"


def test_passes_on_input_output_and_exit_code(launch: Launch) -> None:
    (launch.folder / "prompt").write_text("the prompt")
    (launch.folder / "link").symlink_to("prompt")  # as in a mounted ConfigMap
    launch.options["stdin"] = str(launch.folder / "link")
    code, said = launch.run("sh", "-c", "cat; echo problem >&2; exit 3")
    assert (code, said) == (3, b"")
    assert launch.output() == b"the prompt"
    assert (launch.folder / "stderr").read_bytes() == b"problem\n"
    assert launch.record() == {"exitCode": 3, "signal": None, "stopped": False}


def test_without_a_file_the_input_is_empty(launch: Launch) -> None:
    assert launch.run("sh", "-c", 'test -z "$(cat)"') == (0, b"")
    assert launch.record()["exitCode"] == 0


def test_output_is_appended(launch: Launch) -> None:
    (launch.folder / "stdout").write_text("before\n")
    launch.run("echo", "after")
    assert launch.output() == b"before\nafter\n"


def test_a_command_that_a_signal_ends(launch: Launch) -> None:
    code, _ = launch.run("sh", "-c", "kill -9 $$")
    assert code == 128 + 9
    assert launch.record() == {"exitCode": None, "signal": 9, "stopped": False}


@pytest.mark.parametrize(
    ("command", "code"), [("no-such-program", 127), ("/etc/passwd", 126), ("/", 126)]
)
def test_a_command_that_cannot_be_started(launch: Launch, command: str, code: int) -> None:
    got, said = launch.run(command)
    assert got == code
    assert said.startswith(f"launcher: cannot start {command}: ".encode())
    assert launch.record() == {"exitCode": code, "signal": None, "stopped": False}


@pytest.mark.parametrize(
    "arguments", [[], ["--"], ["--int-seconds", "x", "--", "true"], ["--no-such", "--", "true"]]
)
def test_a_wrong_call_is_125_with_a_message(launcher: Path, arguments: list[str]) -> None:
    done = subprocess.run([str(launcher), *arguments], capture_output=True, check=False)
    assert done.returncode == 125
    assert done.stderr


@pytest.mark.parametrize("name", ["stdout", "stderr"])
def test_outputs_that_are_no_regular_files_are_refused(launch: Launch, name: str) -> None:
    target = launch.folder / "target"
    target.write_text("untouched")
    (launch.folder / name).symlink_to(target)
    code, said = launch.run("echo", "overwritten")
    assert code == 125
    assert f"cannot write {launch.folder / name}".encode() in said
    assert target.read_text() == "untouched"
    (launch.folder / name).unlink()
    os.mkfifo(launch.folder / name)
    assert launch.run("echo", "x")[0] == 125


def test_the_command_waits_for_the_start_file(launch: Launch) -> None:
    begin = launch.folder / "begin"
    launch.options["start-file"] = str(begin)
    process = launch.start("echo", "up")
    time.sleep(0.3)
    assert process.poll() is None
    assert launch.output() == b""
    begin.touch()
    assert process.wait(timeout=60) == 0
    assert launch.output() == b"up\n"


def test_a_launcher_that_waits_for_the_start_file_can_be_ended(launch: Launch) -> None:
    launch.options["start-file"] = str(launch.folder / "begin")
    # Blocked from its birth on, the signal cannot come before the launcher is ready for it.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    try:
        process = launch.start("echo", "up")
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=60) == 128 + signal.SIGTERM
    assert launch.record() == {"exitCode": None, "signal": signal.SIGTERM, "stopped": True}
    assert launch.output() == b""


def test_the_stop_file_ends_it_by_sigint(launch: Launch) -> None:
    process = launch.start(*PYTHON, POLITE)
    wait_for(lambda: launch.output())
    launch.stop()
    assert process.wait(timeout=60) == 0
    assert launch.output() == b"up\ninterrupted\n"
    assert launch.record() == {"exitCode": 0, "signal": None, "stopped": True}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_to_the_launcher_ends_it_by_sigint(launch: Launch, number: int) -> None:
    process = launch.start("sh", "-c", "echo up; exec sleep 60")
    wait_for(lambda: launch.output())
    process.send_signal(number)
    assert process.wait(timeout=60) == 128 + signal.SIGINT
    assert launch.record() == {"exitCode": None, "signal": 2, "stopped": True}


@pytest.mark.parametrize(
    ("ignored", "ends_by", "at_least"), [(INT, signal.SIGTERM, 1), (INT + TERM, signal.SIGKILL, 2)]
)
def test_what_ignores_signals_gets_stronger_ones(
    launch: Launch, ignored: str, ends_by: int, at_least: float
) -> None:
    launch.options |= {"int-seconds": "1", "term-seconds": "1"}
    process = launch.start(*PYTHON, STUBBORN.format(signals=ignored))
    wait_for(lambda: launch.output())
    began = time.monotonic()
    process.send_signal(signal.SIGTERM)
    process.send_signal(signal.SIGTERM)  # a second one hurries nothing
    assert process.wait(timeout=60) == 128 + ends_by
    assert at_least <= time.monotonic() - began < at_least + 15
    assert launch.record() == {"exitCode": None, "signal": ends_by, "stopped": True}


def test_the_whole_group_gets_the_signal(launch: Launch) -> None:
    process = launch.start("sh", "-c", "sleep 60 & echo $!; sleep 60")
    wait_for(lambda: launch.output().endswith(b"\n"))
    child = int(launch.output())
    launch.stop()
    process.wait(timeout=60)
    assert not lives(child)


def test_what_is_left_behind_is_killed_and_reaped(launch: Launch) -> None:
    """Orphans in the group, in sessions of their own, deaf ones and their children."""
    code, said = launch.run(*PYTHON, LEAVES_ORPHANS)
    pids = [int(pid) for pid in launch.output().split()]
    assert (code, said, len(pids)) == (0, b"", 4)
    assert not [pid for pid in pids if lives(pid)]


def test_waiting_costs_next_to_nothing(launch: Launch) -> None:
    process = launch.start("sleep", "1.5")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    process.communicate(timeout=60)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 0.2


def test_a_folder_in_place_of_the_exit_record_changes_nothing_else(launch: Launch) -> None:
    (launch.folder / "exit-record").mkdir()
    code, said = launch.run("sh", "-c", "exit 4")
    assert code == 4
    assert b"cannot write" in said


def test_a_link_in_place_of_the_exit_record_is_replaced(launch: Launch) -> None:
    target = launch.folder / "target"
    target.write_text("untouched")
    (launch.folder / "exit-record").symlink_to(target)
    (launch.folder / "exit-record.tmp").symlink_to(target)
    assert launch.run("true")[0] == 0
    assert target.read_text() == "untouched"
    assert launch.record()["exitCode"] == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGCHLD])
def test_a_signal_that_its_parent_ignores_is_heard_all_the_same(
    launch: Launch, number: int
) -> None:
    before = signal.signal(number, signal.SIG_IGN)
    try:
        process = launch.start(*PYTHON, POLITE)
    finally:
        signal.signal(number, before)
    wait_for(lambda: launch.output())
    launch.stop()
    assert process.wait(timeout=60) == 0
    assert launch.output() == b"up\ninterrupted\n"


def test_as_pid_1_it_reaps_kills_and_hears_signals(launch: Launch) -> None:
    if subprocess.run(["unshare", "--pid", "--fork", "true"], check=False).returncode:
        pytest.skip("this user may make no PID namespace")
    files = [
        f"--stdout={launch.folder / 'stdout'}",
        f"--exit-record={launch.folder / 'exit-record'}",
    ]
    namespace = ["unshare", "--pid", "--fork", "--mount-proc"]
    command = "setsid sleep 60 & echo $!; cat /proc/1/comm; exec sleep 60"
    process = subprocess.Popen(
        [*namespace, str(launch.program), *files, "--", "sh", "-c", command],
        start_new_session=True,
    )
    wait_for(lambda: b"launcher" in launch.output())
    (child,) = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    os.kill(int(child), signal.SIGTERM)
    assert process.wait(timeout=60) == 128 + signal.SIGINT
    assert launch.record() == {"exitCode": None, "signal": 2, "stopped": True}


def test_it_is_one_static_file(launcher: Path) -> None:
    described = subprocess.run(
        ["readelf", "--program-headers", str(launcher)], capture_output=True, check=True
    )
    assert b"INTERP" not in described.stdout
    assert launcher.stat().st_size < 1_500_000


OPENS_PARENT = "import os; os.close(os.open(f'/proc/{os.getppid()}/mem', os.O_RDWR))"
UNPRIVILEGED = ("setpriv", "--bounding-set=-all", "--inh-caps=-all", "--no-new-privs")


def is_yama_on() -> bool:
    """Whether the kernel itself lets no process write into its parent."""
    scope = Path("/proc/sys/kernel/yama/ptrace_scope")
    return scope.exists() and scope.read_text().strip() != "0"


def test_the_command_cannot_write_into_the_launcher(launcher: Path, tmp_path: Path) -> None:
    """It is of the same user: what ends it and tells how it ended would be its own to change."""
    traceable = compiled(tmp_path, {"prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)": "0"})

    def opened_by_its_command(program: Path) -> subprocess.CompletedProcess[bytes]:
        command = (str(program), "--", sys.executable, "-c", OPENS_PARENT)
        return subprocess.run([*UNPRIVILEGED, *command], capture_output=True, check=False)

    alone = opened_by_its_command(traceable)
    assert alone.returncode == 0 or is_yama_on(), "with the protection off it can"

    done = opened_by_its_command(launcher)

    assert done.returncode == 1
    assert b"PermissionError" in done.stderr


def test_what_is_appended_to_the_echo_file_is_copied_as_it_comes(launch: Launch) -> None:
    echo = launch.echo()
    process = launch.start("sh", "-c", "cat; sleep 60")
    with echo.open("a") as file:
        file.write("first\nhalf of ")
    assert launch.heard(process, 6) == b"first\n"
    with echo.open("a") as file:
        file.write("the second\n")
    assert launch.heard(process, 19) == b"half of the second\n"
    launch.stop()
    assert process.wait(timeout=60) == 128 + signal.SIGINT


def test_what_comes_until_the_end_file_is_copied_after_the_command(launch: Launch) -> None:
    echo = launch.echo()
    process = launch.start("true")
    wait_for(lambda: (launch.folder / "exit-record").exists())
    echo.write_text("the last words\n")
    (launch.folder / "echo-end").touch()
    assert process.wait(timeout=60) == 0
    assert launch.heard(process, 15) == b"the last words\n"


def test_a_reader_that_does_not_read_holds_nobody_up(launch: Launch) -> None:
    echo = launch.echo()
    echo.write_text(f"{'x' * 99}\n" * 20_000)
    (launch.folder / "echo-end").touch()
    process = launch.start("sh", "-c", "echo up; sleep 60")
    wait_for(lambda: launch.output() == b"up\n")
    launch.stop()
    wait_for(lambda: (launch.folder / "exit-record").exists())
    assert process.wait(timeout=60) == 128 + signal.SIGINT
    assert launch.record()["stopped"] is True


def test_a_reader_that_is_gone_ends_nobody(launch: Launch) -> None:
    echo = launch.echo()
    process = launch.start("sh", "-c", "sleep 1; exit 3")
    assert process.stdout is not None
    process.stdout.close()
    echo.write_text("nobody hears it\n" * 1000)
    began = time.monotonic()
    assert process.wait(timeout=60) == 3
    assert time.monotonic() - began < 9, "nothing is waited for"


def test_the_file_to_hide_is_hidden_wherever_it_stands(launch: Launch) -> None:
    echo = launch.echo()
    (launch.folder / "key").write_text("my own key\n")
    launch.options["echo-hides"] = str(launch.folder / "key")
    echo.write_text("it is my own key.\n" * 10_000)
    (launch.folder / "echo-end").touch()
    process = launch.start("true")
    shown, _ = process.communicate(timeout=60)
    assert shown == b"it is **********.\n" * 10_000


def test_the_command_cannot_write_past_the_echo_into_the_log(
    launcher: Path, tmp_path: Path
) -> None:
    forging = ("sh", "-c", "echo forged >/proc/$PPID/fd/1")
    by_itself = ("sh", "-c", '"$@"; exit $?', "sh", *forging)
    alone = subprocess.run([*UNPRIVILEGED, *by_itself], capture_output=True, check=False)
    assert alone.stdout == b"forged\n", "with the protection off it can"

    files = ("--stdout", str(tmp_path / "out"), "--stderr", str(tmp_path / "err"))
    done = subprocess.run(
        [*UNPRIVILEGED, str(launcher), *files, "--", *forging], capture_output=True, check=False
    )

    assert (done.stdout, done.stderr) == (b"", b"")
    assert done.returncode != 0
