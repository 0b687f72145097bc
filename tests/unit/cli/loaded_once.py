"""A `bernstein` for scripts that call it often: it is loaded once, and forked for each call.

To load it takes most of a second of CPU. Each call is a process all the same, which has the
arguments, the environment, the folder and the files of who calls.
"""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import sys

CALL, SERVE = "call", "serve"


def call(address: str, arguments: list[str]) -> int:
    """Has the program called, and waits for it; its exit code."""
    said = json.dumps([arguments, os.getcwd(), dict(os.environ)]).encode()  # noqa: PTH109 - it is quick to load
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(address)
        socket.send_fds(connection, [b"."], [0, 1, 2])
        connection.sendall(said)
        connection.shutdown(socket.SHUT_WR)
        return connection.recv(1)[0]


def serve(address: str) -> None:
    """Loads the program with all of its commands, says so with an empty line, and takes calls until
    the standard input ends: so it outlives nobody who has started it."""
    from importlib import import_module

    from bernstein.cli.commands import COMMANDS

    for command in COMMANDS:
        import_module(command.module)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for them here
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen()
        print(flush=True)
        while sys.stdin not in select.select([listener, sys.stdin], [], [])[0]:
            connection, _ = listener.accept()
            with connection:
                if os.fork() == 0:
                    _answer(connection)


def _answer(connection: socket.socket) -> None:
    """In the forked process, which ends with it."""
    code = 1
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        _, files, *_ = socket.recv_fds(connection, 1, 3)
        said = b"".join(iter(lambda: connection.recv(1 << 16), b""))
        arguments, folder, environment = json.loads(said)
        for number, file in enumerate(files):
            os.dup2(file, number)
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(environment)
        code = _run(arguments)
    finally:
        connection.sendall(bytes([code]))
        os._exit(code)


def _run(arguments: list[str]) -> int:
    from bernstein.cli.main import main

    sys.argv = ["bernstein", *arguments]
    try:
        main()
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
    return 0


if __name__ == "__main__":
    what, address, *arguments = sys.argv[1:]
    if what == SERVE:
        serve(address)
    else:
        sys.exit(call(address, arguments))
