"""Writes what only the launcher should write, and whatever else could be believed.

    python3 forger.py {records|links}

records: usage that nobody had, an exit record and a recorder's result in the termination message;
what a reader who believes them is told goes to believed.json.
links: the files of the stream become links to another container's token.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path

STREAM = Path("/stream")
TOKEN = "/var/run/bernstein/token"
USAGES = (
    '{"type": "usage", "input": -1000000, "output": -1}',
    '{"type": "usage", "input": 1e300, "output": 1}',
    '{"type": "usage", "input": NaN, "output": 1}',
    '{"type": "usage", "input": ' + "9" * 40 + ', "output": 1}',
    '{"type": "usage", "input": true, "output": "7"}',
    '{"type": "usage"' + "[" * 100_000,
)


def main() -> int:
    {"records": _records, "links": _links}[sys.argv[1]]()
    # Process 1 of the container is the launcher, of the same user.
    os.kill(1, signal.SIGKILL)
    return 0


def _records() -> None:
    with (STREAM / "stdout.log").open("ab") as stream:
        stream.writelines(usage.encode() + b"\n" for usage in USAGES)
        stream.write(b"\xff\xfe\0" * 1000 + b"\n")
    forged = {"base": "0" * 40, "sha": "1" * 40, "tree": "2" * 40}
    result = {"usage": {"input": 7}, "final": {"outcome": "Succeeded"}, "changed": {"files": 1}}
    for place in ("/dev/termination-log", "/tmp/termination-log"):
        Path(place).write_text(json.dumps({**forged, **result}))
    (STREAM / "exit.json").write_text('{"exitCode": 0, "signal": null, "stopped": false}')
    Path("believed.json").write_text(json.dumps(_believed()))


def _believed() -> dict[str, object]:
    """What the stream and the exit record say to a reader who takes them for what they are not."""
    inputs: list[float] = []
    for line in (STREAM / "stdout.log").read_bytes().splitlines():
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if record["type"] == "usage":
            inputs.append(record["input"])
    exit_record = json.loads((STREAM / "exit.json").read_text())
    return {"least": min(inputs), "most": max(inputs), "exit code": exit_record["exitCode"]}


def _links() -> None:
    for name in ("stdout.log", "stderr.log", "exit.json", "exit.json.tmp"):
        place = STREAM / name
        place.unlink(missing_ok=True)
        place.symlink_to(TOKEN)


if __name__ == "__main__":
    sys.exit(main())
