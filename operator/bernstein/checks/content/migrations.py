"""Migrations of a database: which files are some, and whether each can be taken back.

Known are Alembic's, and SQL with its way back in the same file or in one of its own. What Flyway
runs again and again, around others or for a new database alone is never taken back.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable

_FOLDERS = {"migrations", "migration", "migrate"}
_BACK = re.compile(r"(?:^|[._/-])(?:down|rollback|undo|revert)(?:[._/-]|$)|^U[\d._]{1,40}__")
_ENDLESS = re.compile(
    r"R__.{0,200}|B[\d._]{1,40}__.{0,200}|createSchema(?:__.{0,200})?"
    r"|(?:before|after)(?:Connect|(?:Each)?(?:Migrate|Undo)(?:Statement)?|Versioned|Repeatables"
    r"|Clean|Info|Validate|Baseline|Repair|CreateSchema)(?:Error|Applied|OperationFinish)?"
    r"(?:__.{0,200})?"
)
"""Names, without `.sql`, of what Flyway never takes back."""
_REVISION = re.compile(r"^down_revision\b", re.MULTILINE)
_DEF = r"^def[ \t]{1,20}%s[ \t]{0,20}\([^)\n]{0,200}\)[^:\n]{0,100}:[ \t]{0,20}(.*)$"
_TEXT = re.compile(
    r'''"""(?:[^"\\]|\\.|"(?!""))*+"""|'{3}(?:[^'\\]|\\.|'(?!'{2}))*+'{3}''', re.DOTALL
)
"""A string over several lines, which may spell a function."""
_NOTHING = re.compile(
    r"""pass|\.\.\.|"[^"]*"|'[^']*'|return(?: None)?|raise NotImplementedError\b.*"""
    r"""|op\.execute\(\s*(?:""|'')\s*\)"""
)
_TOOLS = (
    (r"--[ \t]*\+goose[ \t]+up\b", r"--[ \t]*\+goose[ \t]+down\b"),
    (r"--[ \t]*\+migrate[ \t]+up\b", r"--[ \t]*\+migrate[ \t]+down\b"),
    (r"--[ \t]*migrate:up\b", r"--[ \t]*migrate:down\b"),
    (r"--[ \t]*liquibase\b", r"--[ \t]*rollback\b"),
)
_SECTIONS = tuple(
    (re.compile(f"(?im)^{forth}"), re.compile(f"(?im)^{back}")) for forth, back in _TOOLS
)
"""By the tool: what begins the way forth, and the way back."""
_COMMENTS = re.compile(r"--[^\n]*|/\*(?:[^*]|\*(?!/))*+(?:\*/)?|[\s;]+")

Content = Callable[[str], str | None]
"""What the tree has at a path; None: no file."""


def is_migration(path: str) -> bool:
    """Whether the file may be one, by its path: others need not be read."""
    if path.endswith(".py"):
        return True
    name = posixpath.basename(path)
    if not name.endswith(".sql") or is_way_back(path):
        return False
    if _ENDLESS.fullmatch(name.removesuffix(".sql")):
        return False
    in_folder = not _FOLDERS.isdisjoint(path.lower().split("/")[:-1])
    return in_folder or name.endswith(".up.sql") or re.match(r"V[\d._]{1,40}__", name) is not None


def is_way_back(path: str) -> bool:
    """Whether the file may be one for a migration in SQL, by its path."""
    folder, name = posixpath.split(path)
    return name.endswith(".sql") and bool(_BACK.search(name) or _BACK.search(folder))


def problem(path: str, text: str, content: Content) -> str | None:
    """Why the migration cannot be taken back; None: it can, or it is none.

    `content`: reads the tree that the migration is in.
    """
    if path.endswith(".py"):
        return _alembic(text)
    return _sql(path, text, content)


def _alembic(text: str) -> str | None:
    text = _TEXT.sub(lambda match: '"text"' if match[0].strip("\"' \n") else '""', text)
    forth = _body(text, "upgrade")
    if forth is None or not _REVISION.search(text):
        return None
    back = _body(text, "downgrade")
    if back is None:
        return "has no function downgrade"
    return "has a downgrade that does nothing" if forth and not back else None


def _body(text: str, name: str) -> list[str] | None:
    """The statements of a function at the top of a module, in lines, without those that do nothing;
    None: there is no such function. Where there are several, the last one is Python's."""
    defined = list(re.finditer(_DEF % name, text, re.MULTILINE))
    if not defined:
        return None
    last = defined[-1]
    lines = [last[1]]
    for line in text[last.end() :].split("\n"):
        if line.strip() and not line.startswith((" ", "\t", ")", "#")):
            break
        lines.append(line)
    body = "\n".join(lines)
    plain = (line.split("#", 1)[0].strip() for line in body.split("\n"))
    return [line for line in plain if line and not _NOTHING.fullmatch(line)]


def _sql(path: str, text: str, content: Content) -> str | None:
    if not _does_something(text):
        return None
    for forth, back in _SECTIONS:
        if forth.search(text):
            parts = back.split(text)
            goes_back = any(map(_does_something, parts[1:]))
            return None if goes_back else "has no way back in its section for that"
    named = ways_back(path)
    texts = [sql for each in named if (sql := content(each)) is not None]
    if not texts:
        return f"has no {posixpath.basename(named[0])} beside it"
    return None if any(map(_does_something, texts)) else "has a way back that does nothing"


def ways_back(path: str) -> tuple[str, ...]:
    """Where the way back of an SQL file may be, the likeliest first."""
    folder, name = posixpath.split(path)
    stem = name.removesuffix(".sql")
    if re.match(r"V[\d._]{1,40}__", name):
        return (posixpath.join(folder, f"U{name[1:]}"),)
    beside = [f"{stem.removesuffix('.up').removesuffix('_up')}{end}" for end in (".down", "_down")]
    if stem in ("up", "migration"):
        beside.insert(0, "down")
    paths = [posixpath.join(folder, f"{each}.sql") for each in beside]
    paths.append(posixpath.join(folder, "down", name))
    if posixpath.basename(folder) == "up":
        paths.append(posixpath.join(posixpath.dirname(folder), "down", name))
    return tuple(paths)


def _does_something(text: str) -> bool:
    """Whether there is anything but comments."""
    return bool(_COMMENTS.sub("", text))
