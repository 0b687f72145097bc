"""Tells which known weaknesses the dependencies have that a tree pins.

`advisories.py SEVERITY`: those of this severity (`low`, `medium`, `high`) and above. pip-audit asks
for them in OSV's database; how severe they are it does not tell, so that is read from there, too.
`PIP_AUDIT_OSV_URL` names another address than that of osv.dev, as pip-audit knows it: the Project's
or, where that names none, the image's.

Of the tree only names and versions are read: nothing is resolved, built or installed. It prints one
object of JSON, which `bernstein.checks.outputs.advisories` reads.
"""

from __future__ import annotations

import codecs
import configparser
import importlib
import importlib.util
import json
import os
import posixpath
import re
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MOST = 2000
"""Pinned versions."""
MOST_VERSIONS = 10
"""Of one package."""
MOST_NAMED = 1000
"""Lists that others name."""
_FILE_BYTES = 20_000_000
_SECONDS = 15
_MISSING = 127
_LISTED = re.compile(
    r"requirements([._-].*)?\.(txt|in|lock)|constraints([._-].*)?\.txt|.*-requirements\.(txt|lock)",
    re.IGNORECASE,
)
_FOLDER = "requirements"
_ENVIRONMENT = re.compile(r"environment\.ya?ml", re.IGNORECASE)
_NAMES = re.compile(r"\s*(?:-[rc]|--(?:requirement|constraint)(?=[\s=]))[\s=]*([^\s=].*)")
"""A line that names another list."""
_CONTINUED = re.compile(r"\\\r?\n")
_TABLES = re.compile(r"(uv|poetry|pdm)\.lock|pylock(\..*)?\.toml")
_BOUND = r"(?:[<>!~]=?\s*[A-Za-z0-9.!+_*-]{1,100}\s*,\s*)"
_PIN = re.compile(
    r"\s*([A-Za-z0-9](?:[A-Za-z0-9._-]{0,200}[A-Za-z0-9])?)\s*(?:\[[^\]]{0,200}\])?\s*\(?\s*"
    rf"{_BOUND}{{0,20}}={{2,3}}\s*([A-Za-z0-9][A-Za-z0-9.!+_-]{{0,100}})"
    r"(?:\s*[;#\\,)].*|\s+-.*|\s*)"
)
"""A requirement that holds one version, as pip reads a line: other bounds, options and marks beside
it change nothing."""
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
"""At the beginning of a list of requirements, as pip knows them; the longer ones first."""
_RANKS = {"LOW": 0, "MODERATE": 1, "MEDIUM": 1, "HIGH": 2, "CRITICAL": 3}


@dataclass(frozen=True)
class Pin:
    """A version of a package, and the first file that names it."""

    name: str
    version: str
    path: str


class Silent(Exception):  # noqa: N818 - nobody has answered
    """The database cannot be reached, or does not answer as it should."""

    def __init__(self, what: str, *, is_denied: bool) -> None:
        super().__init__(what)
        self.is_denied = is_denied


# --- what is pinned -----------------------------------------------------------------------------


class TooMany(Exception):  # noqa: N818 - it says what was found instead
    """More lists are named than are read."""


def pins(root: Path) -> list[Pin]:
    """Each version once. A file that is no such file is passed over: nobody can install from it.

    Raises TooMany.
    """
    found: dict[tuple[str, str], Pin] = {}
    waiting = deque(path for path in _files(root) if _is_read(path))
    known = set(waiting)
    most = len(known) + MOST_NAMED
    while waiting:
        path = waiting.popleft()
        try:
            for line in _lines(path, _text((root / path).read_bytes())):
                other = _named(path, line)
                if other is not None and other not in known:
                    known.add(other)
                    if _is_inside(root, other):
                        waiting.append(other)
                if len(known) > most:
                    raise TooMany
                for name, version in _of_lines([line]):
                    key = (re.sub(r"[-_.]+", "-", name).lower(), version)
                    found.setdefault(key, Pin(key[0], version, path))
        except (ValueError, TypeError, AttributeError, RecursionError, OSError):
            continue
    return list(found.values())


def _named(path: str, line: str) -> str | None:
    """The other list that this line names; None: it names none."""
    match = _NAMES.fullmatch(line)
    if match is None:
        return None
    name = match.group(1).split(" #")[0].strip().strip("\"'")
    return posixpath.normpath(posixpath.join(posixpath.dirname(path), name))


def _is_inside(root: Path, path: str) -> bool:
    """Whether it is a file of the tree, and no symlink leads there."""
    try:
        file = root.resolve() / path
        return file.resolve() == file and file.is_relative_to(root.resolve()) and _is_small(file)
    except (ValueError, OSError, RuntimeError):
        return False


def _text(data: bytes) -> str:
    """pip reads a list in whatever encoding it is: what is no UTF-8 hides no line of ASCII."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return data[len(mark) :].decode(encoding, "replace")
    return data.decode(errors="replace")


def _files(root: Path) -> Iterator[str]:
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if name != ".git")
        for name in sorted(files):
            file = Path(folder, name)
            if _is_small(file):
                yield str(file.relative_to(root))


def _is_small(file: Path) -> bool:
    return file.is_file() and not file.is_symlink() and file.stat().st_size < _FILE_BYTES


def _is_read(path: str) -> bool:
    """Whether its name says that it may pin versions."""
    *folders, name = path.split("/")
    if _LISTED.fullmatch(name) or (_FOLDER in folders and name.endswith((".txt", ".in"))):
        return True
    usual = name in ("Pipfile.lock", "pyproject.toml", "setup.cfg")
    return usual or any(each.fullmatch(name) for each in (_TABLES, _ENVIRONMENT))


def _lines(path: str, text: str) -> Iterator[str]:
    """What it pins, as in a list of requirements, which a file of any other name is."""
    name = path.rpartition("/")[2]
    if _TABLES.fullmatch(name):
        table = _toml(text)
        for package in (*table.get("package", ()), *table.get("packages", ())):
            if {"name", "version"} <= package.keys():
                yield f"{package['name']}=={package['version']}"
    elif name == "Pipfile.lock":
        for group in ("default", "develop"):
            for package, of in json.loads(text).get(group, {}).items():
                yield f"{package}{of.get('version', '')}"
    elif name == "pyproject.toml":
        yield from _of_project(_toml(text))
    elif name == "setup.cfg":
        yield from _of_setup(text)
    elif _ENVIRONMENT.fullmatch(name):
        yield from _of_environment(text)
    else:
        yield from _CONTINUED.sub("", text).splitlines()


def _of_lines(lines: list[str]) -> Iterator[tuple[str, str]]:
    for line in lines:
        match = _PIN.fullmatch(line)
        if match is not None:
            yield match.group(1), match.group(2)


def _of_project(table: dict[str, Any]) -> list[str]:
    project = table.get("project", {})
    groups = [
        project.get("dependencies", []),
        *project.get("optional-dependencies", {}).values(),
        *table.get("dependency-groups", {}).values(),
    ]
    return [each for group in groups for each in group if isinstance(each, str)]


def _of_setup(text: str) -> Iterator[str]:
    config = configparser.RawConfigParser(strict=False, allow_no_value=True)
    try:
        config.read_string(text)
    except configparser.Error:
        return
    wanted = [config.get("options", "install_requires", fallback=None)]
    if config.has_section("options.extras_require"):
        wanted += config["options.extras_require"].values()
    for value in filter(None, wanted):
        # As setuptools reads it: what stands behind a semicolon on a line of its own is a mark.
        yield from value.splitlines() if "\n" in value else value.split(";")


def _of_environment(text: str) -> Iterator[str]:
    """What conda has pip install: entries below `pip`. Its own packages are no packages of PyPI."""
    above: int | None = None
    for line in text.splitlines():
        entry = line.lstrip()
        if not entry or entry.startswith("#"):
            continue
        depth = len(line) - len(entry)
        if above is not None and depth > above:
            yield _value(entry.removeprefix("-").strip())
            continue
        key, colon, rest = entry.removeprefix("-").partition(":")
        is_pip = key.strip().strip("\"'") == "pip" and colon and not rest.split("#")[0].strip()
        above = depth if is_pip else None


def _value(entry: str) -> str:
    mark = entry[:1]
    return entry[1:].partition(mark)[0] if mark in ("'", '"') else entry


def _toml(text: str) -> dict[str, Any]:
    name = "tomllib" if sys.version_info >= (3, 11) else "tomli"
    table: dict[str, Any] = importlib.import_module(name).loads(text)
    return table


# --- what is known of it ------------------------------------------------------------------------


class Database:
    """OSV's database, or one that answers as it does."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._known: dict[str, dict[str, Any]] = {}

    def reach(self) -> None:
        """Raises Silent where nobody is there."""
        try:
            self._get(self._url)
        except urllib.error.HTTPError:
            return  # somebody is

    def severity(self, ids: list[str]) -> str:
        """The greatest that one of its names has; `unknown`: nobody has told. Raises Silent."""
        told = [word for each in ids if (word := self._severity(each)) in _RANKS]
        return max(told, key=_RANKS.__getitem__).lower() if told else "unknown"

    def _severity(self, name: str) -> str:
        if name not in self._known:
            try:
                self._known[name] = self._get(f"{self._url.rpartition('/')[0]}/vulns/{name}")
            except urllib.error.HTTPError as error:
                if error.code >= 500:
                    raise Silent(f"{self._url}: {error}", is_denied=False) from error
                self._known[name] = {}
        specific = self._known[name].get("database_specific") or {}
        return str(specific.get("severity", "")).upper()

    def _get(self, url: str) -> dict[str, Any]:
        try:
            with urllib.request.urlopen(url, timeout=_SECONDS) as answer:  # noqa: S310 - ours
                found = json.loads(answer.read(_FILE_BYTES))
        except urllib.error.HTTPError:
            raise
        except OSError as error:
            raise Silent(f"{url}: {error}", is_denied=True) from error
        except ValueError as error:
            raise Silent(f"{url}: {error}", is_denied=False) from error
        return found if isinstance(found, dict) else {}


def weaknesses(found: list[Pin], url: str) -> Iterator[tuple[Pin, dict[str, Any]]]:
    """What pip-audit says of each. Raises Silent."""
    versions: dict[str, list[Pin]] = {}
    for pin in found:
        versions.setdefault(pin.name, []).append(pin)
    # It takes no file with two versions of one package.
    for number in range(max(map(len, versions.values()))):
        pinned = {name: each[number] for name, each in versions.items() if number < len(each)}
        for dependency in _audited(list(pinned.values()), url):
            for vulnerability in dependency.get("vulns", ()):
                yield pinned[dependency["name"]], vulnerability


def _audited(found: list[Pin], url: str) -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "requirements.txt")
        file.write_text("".join(f"{pin.name}=={pin.version}\n" for pin in found))
        audit = [sys.executable, "-I", "-m", "pip_audit", "-r", str(file), "--no-deps"]
        audit += ["--disable-pip", "-s", "osv", "--osv-url", url, "--cache-dir", folder]
        audit += ["-f", "json", "--desc", "off", "--aliases", "on", "--progress-spinner", "off"]
        ended = subprocess.run(audit, cwd=folder, capture_output=True, check=False)
    sys.stderr.buffer.write(ended.stderr)
    try:
        dependencies: list[dict[str, Any]] = json.loads(ended.stdout)["dependencies"]
    except (ValueError, KeyError, TypeError) as error:
        last = ended.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        raise Silent(f"pip-audit: {last[:300]}", is_denied=False) from error
    return dependencies


def told_of(found: list[Pin], severity: str, url: str) -> list[dict[str, Any]]:
    """Weaknesses of this severity and above; one whose severity nobody has told counts, too. Raises
    Silent."""
    if not found:
        return []
    database = Database(url)
    database.reach()
    told = []
    for pin, vulnerability in weaknesses(found, url):
        ids = [vulnerability["id"], *vulnerability.get("aliases", ())]
        found_severity = database.severity(ids)
        if found_severity == "unknown" or _rank(found_severity) >= _rank(severity):
            told.append(
                {
                    "package": pin.name,
                    "version": pin.version,
                    "path": pin.path,
                    "id": ids[0],
                    "severity": found_severity,
                    "fixed": list(vulnerability.get("fix_versions", ()))[:5],
                }
            )
    return told


def _rank(severity: str) -> int:
    return _RANKS[severity.upper()]


def main() -> int:
    severity = sys.argv[1]
    if importlib.util.find_spec("pip_audit") is None:
        sys.stderr.write("the image has no pip-audit\n")
        return _MISSING
    try:
        found = pins(Path())
    except TooMany:
        sys.stderr.write(f"over {MOST_NAMED} lists are named by others\n")
        return 1
    names = [pin.name for pin in found]
    if len(found) > MOST or any(names.count(name) > MOST_VERSIONS for name in set(names)):
        sys.stderr.write(f"over {MOST} versions, or {MOST_VERSIONS} of one package\n")
        return 1
    url = os.environ.get("PIP_AUDIT_OSV_URL", "https://api.osv.dev/v1/query")
    told: dict[str, Any]
    try:
        told = {"found": told_of(found, severity, url)}
    except Silent as silent:
        told = {"silent": str(silent), "denied": silent.is_denied}
    json.dump(told, sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
