"""git's credential helper: answers for one repository, from files, and for nothing else.

Run by git as `python3 -I -S credential.py FOLDER PROTOCOL HOST PATH`, with git's request on stdin.
The secret goes from file to pipe; it is in no argument, variable, address or log.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:  # every import here is paid for at each connection
    from collections.abc import Iterable


def answer(request: Iterable[str], folder: str, expected: dict[str, str]) -> str:
    """git's reply lines; empty unless protocol, host and path are exactly the expected ones.

    Raises OSError when the files cannot be read, ValueError when they hold a line break inside.
    """
    asked = dict(line.rstrip("\n").split("=", 1) for line in request if "=" in line)
    if {key: asked.get(key) for key in expected} != expected:
        return ""
    values = {name: _read(f"{folder}/{name}") for name in ("username", "password")}
    for name, value in values.items():
        if "\n" in value or "\0" in value:
            raise ValueError(f"{name} holds a line break or a NUL byte")
    return "".join(f"{name}={value}\n" for name, value in values.items())


def _read(path: str) -> str:
    with open(path, encoding="utf-8") as file:  # noqa: PTH123 - pathlib would double the start
        return file.read().rstrip("\r\n")


def main(arguments: list[str]) -> int:
    """Answer one `get`."""
    folder, protocol, host, path = arguments
    expected = {"protocol": protocol, "host": host, "path": path}
    sys.stdout.write(answer(sys.stdin, folder, expected))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
