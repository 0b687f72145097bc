"""Looks for secrets in all that its container can reach, and says where it found which.

    python3 search.py KNOWN

Prints a report as JSON. KNOWN is a JSON file {"needles": {name: hexadecimal}, "since": seconds,
"urls": {name: [method, address]}}; hexadecimal, so that the file itself is no finding. Files that
did not change since `since`, when the secrets were made or mounted, are counted but not read. One
needle, `planted`, and one `token` that nobody knows beforehand are put into a file and into the
environment of another process first: a search that does not find them there proves nothing. Ends
with 1 if anything else was found.
"""

from __future__ import annotations

import base64
import json
import os
import re
import ssl
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.client import HTTPSConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

PLANTED = "planted"
LIKE_A_TOKEN = "token"
BAIT = Path("/tmp/planted")
TOKEN = re.compile(rb"eyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{20,}")
VIRTUAL = ("/proc", "/sys")
HOMES_OF_SECRETS = (
    "/run/secrets",
    "/secrets",
    "/var/run/secrets",
    "/var/run/bernstein",
    "/recorder",
    "/parts",
    "/base",
    "/tmp/repo.git",
    "/tmp",
)
WRITABLE = ("/base", "/etc", "/parts", "/recorder", "/session", "/usr", "/var")
LARGEST = 16 << 20


class Findings:
    """Where each needle, or anything that looks like a token, was seen."""

    def __init__(self, needles: dict[str, bytes], since: float) -> None:
        self.places: dict[str, list[str]] = {}
        self.read = 0
        self.seen = 0
        self._since = since
        self._patterns = {name: list(_forms(value)) for name, value in needles.items()}

    def open(self, path: Path) -> None:
        """Search in what is a regular file, readable and new enough; processes' files are such."""
        self.seen += 1
        try:
            st = path.stat()
            if not stat.S_ISREG(st.st_mode) or st.st_ctime < self._since:
                return
            with path.open("rb") as file:
                self.look(re.sub(r"^/proc/\d+", "/proc/PID", str(path)), file.read(LARGEST))
        except OSError:
            return

    def look(self, place: str, data: bytes) -> None:
        self.read += bool(data)
        for name, forms in self._patterns.items():
            if any(form in data for form in forms):
                self._note(name, place)
        if TOKEN.search(data):
            self._note(LIKE_A_TOKEN, place)

    def _note(self, name: str, place: str) -> None:
        places = self.places.setdefault(name, [])
        if place not in places:
            places.append(place)


def _forms(value: bytes) -> Iterator[bytes]:
    yield value
    yield base64.b64encode(value)
    for user in (b"read", b"work", b"deliver"):  # of an Authorization header
        yield base64.b64encode(user + b":" + value)


def main() -> int:
    threading.Thread(target=_show_life, daemon=True).start()
    known = json.loads(Path(sys.argv[1]).read_text())
    needles = {name: bytes.fromhex(value) for name, value in known["needles"].items()}
    findings = Findings(needles, known["since"])
    bait = f"key = {needles[PLANTED].decode()} {_made_up_token()}"
    BAIT.write_text(bait + "\n")
    environment = {**os.environ, "PLANTED": bait}
    with subprocess.Popen(["sleep", "600"], env=environment) as other:
        try:
            _search(findings)
        finally:
            other.kill()
    answers = {name: _ask(*request) for name, request in known["urls"].items()}
    report = {
        "seen": findings.seen,
        "read": findings.read,
        "found": findings.places,
        "processes": sorted({_command(process) for process in _processes()} - {""}),
        "mounts": sorted({line.split()[1] for line in _lines("/proc/self/mounts")}),
        "present": [path for path in HOMES_OF_SECRETS if Path(path).exists()],
        "written": [path for path in WRITABLE if _writes(path)],
        "listening": sorted(set(_listening())),
        "answers": answers,
    }
    print(json.dumps(report))
    return 0 if set(findings.places) == {PLANTED, LIKE_A_TOKEN} else 1


def _made_up_token() -> str:
    """In the shape of a service account's: header, claims and signature in base64."""
    parts = (b'{"alg":"RS256"}', b'{"sub":"nobody"}', os.urandom(32))
    return ".".join(base64.urlsafe_b64encode(part).decode().rstrip("=") for part in parts)


def _show_life() -> None:
    """On a busy machine the search takes longer than a silent agent is given."""
    while True:
        print("searching", file=sys.stderr, flush=True)
        time.sleep(2)


def _search(findings: Findings) -> None:
    for path in _files(Path("/")):
        findings.open(path)
    for process in _processes():
        for path in (process / "environ", process / "cmdline", *_inside(process / "fd")):
            findings.open(path)
        for home in HOMES_OF_SECRETS:
            for path in _files(process / "root" / home[1:]):
                findings.open(path)
    shown = subprocess.run(
        ["git", "config", "--list", "--show-origin"], capture_output=True, check=False
    )
    findings.look("git config", shown.stdout)


def _files(top: Path) -> Iterator[Path]:
    for folder, folders, files in os.walk(top):
        where = Path(folder)
        folders[:] = [name for name in folders if str(where / name) not in VIRTUAL]
        yield from (where / name for name in files)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def _inside(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:
        return []


def _processes() -> list[Path]:
    return [path for path in _inside(Path("/proc")) if path.name.isdigit()]


def _command(process: Path) -> str:
    return _read(process / "cmdline").replace(b"\0", b" ").decode(errors="replace").strip()[:80]


def _lines(path: str) -> list[str]:
    return _read(Path(path)).decode(errors="replace").splitlines()


def _writes(folder: str) -> bool:
    try:
        (Path(folder) / "written").touch()
    except OSError:
        return False
    return True


def _listening() -> Iterator[int]:
    """Ports of this pod's network that somebody serves."""
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        for line in _lines(table)[1:]:
            words = line.split()
            if words[3] == "0A":
                yield int(words[1].rsplit(":", 1)[1], 16)


def _ask(method: str, url: str) -> Any:
    """The status of an answer to a request without any credential."""
    where = urlsplit(url)
    anybody = ssl.create_default_context()
    anybody.check_hostname = False
    anybody.verify_mode = ssl.CERT_NONE
    connection = HTTPSConnection(where.netloc, timeout=5, context=anybody)
    try:
        connection.request(method, f"{where.path}?{where.query}")
        return connection.getresponse().status
    except OSError as error:
        return str(error)
    finally:
        connection.close()


if __name__ == "__main__":
    sys.exit(main())
