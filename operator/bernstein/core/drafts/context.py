"""What a model is told of a repository before it drafts a plan: little, and nothing secret.

    tree       the files and folders, as deep as there is room for
    README     its beginning
    builds     the beginning of each file at the top that says how it is built and tested

Names of files, and what is in them, are others' words: they are made safe to show, and cut.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import translate
from itertools import islice
from operator import itemgetter
from typing import Final

from bernstein.core.sanitise import ELLIPSIS, count, visible

ROOM: Final = 8 * 1024
"""Bytes of all sections together, with their titles and the lines around them."""
LONGEST_FILE: Final = 64 * 1024
"""Bytes of a file that are read at most: far more than are shown."""
_AROUND = 200
"""Bytes of the two lines around a section, without its title."""
_TREE_PERCENT, _README_PERCENT = 40, 35
_DEEPEST = 6
_ALL = 1 << 20
_SHAPES = (
    *((depth, _ALL) for depth in range(_DEEPEST, 1, -1)),
    *((depth, most) for most in (40, 20, 10, 5) for depth in (3, 2)),
    (1, _ALL),
)
"""Levels, and names of each folder, that the tree shows: the first that have room."""
_LONGEST_NAME = 120
_NOTE = 40
_MOST_BUILDS = 8

_READMES = ("readme.md", "readme", "readme.rst", "readme.txt", "readme.adoc")
_BUILDS = (
    *("pyproject.toml", "setup.cfg", "setup.py", "requirements.txt", "tox.ini", "package.json"),
    *("go.mod", "Cargo.toml", "pom.xml", "build.gradle", "build.gradle.kts", "build.sbt"),
    *("Gemfile", "composer.json", "mix.exs", "Package.swift", "CMakeLists.txt", "meson.build"),
    *("Makefile", "justfile", "Taskfile.yml", "Dockerfile"),
)
"""What says most comes first."""

_SECRET_FOLDERS = frozenset({".ssh", ".aws", ".azure", ".gnupg", ".kube", ".docker", ".git"})
_SECRET_FILES = (
    *(".env", ".env.*", "*.env", ".envrc", ".netrc", "_netrc", ".npmrc", ".pypirc", ".pgpass"),
    *(".my.cnf", ".htpasswd", ".git-credentials", ".dockercfg", ".vault*", "*vault*pass*"),
    *("*.pem", "*.key", "*.p8", "*.p12", "*.pfx", "*.jks", "*.keystore", "*.kdbx", "*.ppk"),
    *("*.gpg", "*.age", "id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*", "*.tfstate*"),
    *("*.tfvars*", "kubeconfig*", "*.kubeconfig", "credential*", "*credentials*.json"),
    *("secret*", "*.secret", "*.secrets", "service-account*.json", "service_account*.json"),
)
_SECRET_FILE = re.compile("|".join(map(translate, _SECRET_FILES)))


@dataclass(frozen=True)
class Seen:
    """What was looked at of a folder."""

    paths: tuple[str, ...]
    """Of its files, relative to it, with `/` between folders."""
    texts: Mapping[str, str] = field(default_factory=dict)
    """What is in those of `read_first` that could be read."""
    all_of_it: bool = True
    """False: there are more files than were looked at."""


@dataclass(frozen=True)
class Section:
    """Data for the prompt, which somebody else has written."""

    title: str
    """In our words."""
    text: str


def is_secret(path: str) -> bool:
    """Whether a file is called as those are that hold keys: nobody is told of it."""
    *folders, name = path.lower().split("/")
    if any(folder in _SECRET_FOLDERS for folder in folders):
        return True
    return _SECRET_FILE.match(name) is not None


def read_first(paths: Iterable[str]) -> tuple[str, ...]:
    """The files at the top whose contents say most: a README, and what it is built with."""
    top = {path for path in paths if "/" not in path and not is_secret(path)}
    readmes = sorted((p for p in top if p.lower() in _READMES), key=_readme_order)
    builds = (name for name in _BUILDS if name in top)
    return (*readmes[:1], *islice(builds, _MOST_BUILDS))


def _readme_order(path: str) -> tuple[int, str]:
    return _READMES.index(path.lower()), path


def sections(seen: Seen, room: int = ROOM) -> tuple[Section, ...]:
    """What the model is told, in at most `room` bytes of UTF-8."""
    return tuple(_sections(seen, room))


def _sections(seen: Seen, room: int) -> Iterator[Section]:
    left = room
    shown = [path for path in seen.paths if not is_secret(path)]
    texts = [(path, seen.texts[path]) for path in read_first(shown) if path in seen.texts]
    first = _tree(shown, room * _TREE_PERCENT // 100 - _AROUND, seen.all_of_it)
    drafts = [first] if first is not None else []
    left -= sum(map(_size, drafts))
    yield from drafts
    for number, (path, text) in enumerate(texts):
        is_readme = path.lower() in _READMES
        share = room * _README_PERCENT // 100 if is_readme else left // (len(texts) - number)
        section = _file(path, text, min(share, left) - _AROUND)
        if section is not None:
            left -= _size(section)
            yield section


def _size(section: Section) -> int:
    return _bytes(section.text) + _AROUND


def _bytes(text: str) -> int:
    return len(text.encode())


def _file(path: str, text: str, room: int) -> Section | None:
    plain = visible(text).strip("\n")
    kept = _beginning(plain, room)
    if not kept.strip():
        return None
    title = f"file {path}"
    return Section(title if kept == plain else f"{title}, its beginning", kept)


def _beginning(text: str, room: int) -> str:
    """The first lines, at most `room` bytes; of a longer first line its beginning."""
    data = text.encode()
    if len(data) <= max(room, 0):
        return text
    cut = data[: max(room, 0)].decode(errors="ignore")
    lines, line_end, _ = cut.rpartition("\n")
    return lines if line_end else cut


# --- the tree -----------------------------------------------------------------------------------


@dataclass
class _Folder:
    files: list[str] = field(default_factory=list)
    folders: dict[str, _Folder] = field(default_factory=dict)
    count: int = 0
    """Files in it and below it."""


def _tree(paths: Iterable[str], room: int, all_of_it: bool) -> Section | None:
    """Files and folders, as many levels as have room, or the first names of each of fewer; of one
    level that has none its beginning."""
    top = _folder(paths)
    if not top.count:
        return None
    title = "files of the repository" if all_of_it else "files of the repository, not all of them"
    for depth, most in _SHAPES:
        rows = _fitting(_rows(top, depth, most, ""), room)
        if rows is not None:
            return Section(title, "\n".join(rows))
    text = _beginning("\n".join(_within(_rows(top, 1, _ALL, ""), room)), room - _NOTE)
    left_out = len(top.files) + len(top.folders) - len(text.split("\n"))
    return Section(title, f"{text}\n{_more(left_out)}")


def _more(left_out: int) -> str:
    return f"{ELLIPSIS} and {count(left_out, 'more name')}"


def _folder(paths: Iterable[str]) -> _Folder:
    top = _Folder()
    for path in paths:
        *folders, name = path.split("/")
        at = top
        at.count += 1
        for each in folders[:_DEEPEST]:
            at = at.folders.setdefault(each, _Folder())
            at.count += 1
        at.files.append(name)
    return top


def _rows(folder: _Folder, depth: int, most: int, indent: str) -> Iterator[str]:
    """Files first: those at the top say most."""
    for name in sorted(folder.files)[:most]:
        yield f"{indent}{_name(name)}"
    left = max(most - len(folder.files), 0)
    for name, inner in sorted(folder.folders.items(), key=itemgetter(0))[:left]:
        if depth > 1:
            yield f"{indent}{_name(name)}/"
            yield from _rows(inner, depth - 1, most, f"{indent}  ")
        else:
            yield f"{indent}{_name(name)}/ ({count(inner.count, 'file')})"
    left_out = len(folder.files) + len(folder.folders) - most
    if left_out > 0:
        yield f"{indent}{_more(left_out)}"


def _name(name: str) -> str:
    shown = " ".join(visible(name).split())
    return f"{shown[: _LONGEST_NAME - 1]}{ELLIPSIS}" if len(shown) > _LONGEST_NAME else shown


def _within(rows: Iterable[str], room: int) -> Iterator[str]:
    """The rows up to the first one that has no room any more, with that one."""
    for row in rows:
        yield row
        room -= _bytes(row) + 1
        if room < -1:
            return


def _fitting(rows: Iterable[str], room: int) -> list[str] | None:
    """All rows; None: they do not fit."""
    found = list(_within(rows, room))
    return found if sum(_bytes(row) + 1 for row in found) - 1 <= room else None
