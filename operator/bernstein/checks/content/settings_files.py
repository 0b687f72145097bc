"""Files that configure the checks of a project: does a change set something, and can they be read?

What a linter's configuration says counts for this work as it was before it, and for all that
follows as the work leaves it.
"""

from __future__ import annotations

import configparser
import json
import posixpath
import re
import tomllib
from collections.abc import Callable, Mapping
from typing import Any

from bernstein.checks.linter_files import LINTER_FILES

MOST_BYTES = 1_000_000
"""Of a file that is read: a larger one sets something wherever it differs."""
_MOST_SLOW = 200_000
"""Of INI and YAML, which are parsed in Python, byte by byte."""
_YAML = (".yml", ".yaml")
_MOST_OPEN = 300
_MOST_OF_ROW = 1000
_MOST_DOTS = 1000
_NAMED = re.compile(
    "|".join(re.escape(name).replace(r"\*", ".*") for name in sorted(LINTER_FILES)), re.DOTALL
)
_INI = {
    *("setup.cfg", "tox.ini", ".flake8", ".pep8", ".pycodestyle", ".pydocstyle", ".pydocstyle.ini"),
    *("pytest.ini", ".pytest.ini"),
    *("mypy.ini", ".mypy.ini", ".isort.cfg", ".importlinter", "pylintrc", ".pylintrc", "radon.cfg"),
}
_OF_PACKAGES = {
    *("poetry", "uv", "pdm", "hatch", "setuptools", "setuptools_scm", "flit", "rye", "maturin"),
    *("bumpversion", "commitizen", "semantic_release", "towncrier", "versioneer"),
}
"""Tables `tool.*` of pyproject.toml that say how the package is made, and of what."""
_OF_PACKAGES_INI = ("metadata", "options", "egg_info", "sdist", "bdist", "build", "upload", "alias")
_OF_PACKAGES_JSON = {
    *("name", "version", "description", "keywords", "homepage", "bugs", "license", "author"),
    *("contributors", "funding", "repository", "private", "dependencies", "devDependencies"),
    *("peerDependencies", "peerDependenciesMeta", "optionalDependencies", "bundleDependencies"),
    *("overrides", "resolutions", "main", "module", "types", "exports", "bin", "files"),
}
_TEXT = r'"(?:[^"\\\n]|\\.)*+"?'
_COMMENT = re.compile(_TEXT + r"|//[^\n]*|/\*(?:[^*]|\*(?!/))*+(?:\*/)?")
_LAST_COMMA = re.compile(_TEXT + r"|,(?=\s{0,1000}[}\]])")

Parse = Callable[[str], Mapping[str, Any]]


class _BrokenError(ValueError):
    """No reader of this format takes it; says why, without quoting it."""


def configures(path: str) -> bool:
    """Whether its name is that of a file which configures a linter or type checker, or says what it
    passes over."""
    return _NAMED.fullmatch(posixpath.basename(path)) is not None


def sets_something(path: str, before: bytes, after: bytes) -> bool:
    """Whether it configures checks otherwise than before. Of files that say other things as well,
    such as dependencies, the rest does not count. What cannot be read may set anything."""
    name = posixpath.basename(path)
    shared = _SHARED.get(name)
    if shared is None or not (is_quick(path, before) and is_quick(path, after)):
        return before != after
    try:
        return shared(before.decode("utf-8-sig")) != shared(after.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return before != after


def broken(path: str, before: bytes, after: bytes) -> str:
    """Why no tool can read the file any more; "" where one can, or could not before either."""
    why = _why_unreadable(path, after)
    return why if why and not (before and _why_unreadable(path, before)) else ""


def is_quick(path: str, content: bytes) -> bool:
    """Whether it is parsed within seconds: of some things Python's parsers take the square."""
    name = posixpath.basename(path)
    if len(content) > MOST_BYTES:
        return False
    if name.endswith(".toml"):  # keys of many parts
        return all(row.count(b".") <= _MOST_DOTS for row in content.split(b"\n"))
    if name in _INI:  # rows of white space
        rows = content.split(b"\n")
        return len(content) <= _MOST_SLOW and all(len(row) <= _MOST_OF_ROW for row in rows)
    if name.endswith(_YAML):  # lists in lists
        opens = content.count(b"[") + content.count(b"{")
        return len(content) <= _MOST_SLOW and opens <= _MOST_OPEN
    return True


def _why_unreadable(path: str, content: bytes) -> str:
    name = posixpath.basename(path)
    if not configures(path) or not is_quick(path, content):
        return ""
    parse = _parser(name)
    if parse is None:
        return ""
    try:
        parse(content.decode("utf-8-sig"))
    except _BrokenError as error:
        return str(error)
    except UnicodeDecodeError:
        return "it is no UTF-8"
    except (ValueError, RecursionError):  # a number of thousands of digits, thousands of brackets
        return "no tool would read it"
    return ""


def _parser(name: str) -> Callable[[str], Any] | None:
    """None: nobody here knows its format for certain."""
    if name in _INI:
        return _ini
    if name == "package.json":
        return _json
    if name.endswith(".toml"):
        return _toml
    if name.endswith((".json", ".jsonc")):
        return _json_with_comments
    return _yaml if name.endswith(_YAML) else None


# --- formats --------------------------------------------------------------------------------------


def _toml(text: str) -> Mapping[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise _BrokenError(f"it is no TOML{_place(str(error))}") from None


def _ini(text: str) -> Mapping[str, Any]:
    parser = configparser.RawConfigParser(strict=False)
    try:
        parser.read_string(text)
    except configparser.MissingSectionHeaderError as error:
        raise _BrokenError(f"it is no INI file (at line {error.lineno})") from None
    except configparser.ParsingError as error:
        raise _BrokenError(f"it is no INI file (at line {error.errors[0][0]})") from None
    return {section: dict(parser[section]) for section in parser}


def _json(text: str) -> Mapping[str, Any]:
    try:
        found = json.loads(text)
    except json.JSONDecodeError as error:
        raise _BrokenError(f"it is no JSON (at line {error.lineno})") from None
    return found if isinstance(found, dict) else {}


def _json_with_comments(text: str) -> Mapping[str, Any]:
    plain = _LAST_COMMA.sub(_without, _COMMENT.sub(_without, text))
    return _json(plain) if plain.strip() else {}


def _without(match: re.Match[str]) -> str:
    """A text as it is; of a comment, or a comma before an end, its line breaks."""
    return match[0] if match[0].startswith('"') else "\n" * match[0].count("\n")


def _yaml(text: str) -> Mapping[str, Any]:
    import yaml  # it takes a moment to load

    try:
        for _ in yaml.parse(text, Loader=yaml.BaseLoader):  # events alone: no alias is followed
            pass
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        place = f" (at line {mark.line + 1})" if mark is not None else ""
        raise _BrokenError(f"it is no YAML{place}") from None
    except yaml.YAMLError:
        raise _BrokenError("it is no YAML") from None
    return {}


def _place(words: str) -> str:
    """The line that a message of tomllib ends with."""
    found = re.search(r"\(at line (\d{1,9}), column \d{1,9}\)\Z", words)
    return f" (at line {found[1]})" if found else ""


# --- files that say other things as well ----------------------------------------------------------


def _tools(text: str) -> Mapping[str, Any]:
    tool = _toml(text).get("tool")
    return (
        {k: v for k, v in tool.items() if k not in _OF_PACKAGES} if isinstance(tool, dict) else {}
    )


def _sections(text: str) -> Mapping[str, Any]:
    return {k: v for k, v in _ini(text).items() if not k.startswith(_OF_PACKAGES_INI)}


def _members(text: str) -> Mapping[str, Any]:
    found = _json(text) if text.strip() else {}
    return {k: v for k, v in found.items() if k not in _OF_PACKAGES_JSON}


_SHARED: Mapping[str, Parse] = {
    "pyproject.toml": _tools,
    "setup.cfg": _sections,
    "package.json": _members,
}
