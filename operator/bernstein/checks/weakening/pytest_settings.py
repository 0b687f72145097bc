"""What a repository's configuration of pytest says of the tests that are looked for and run.

Source: pytest's reference of configuration options, and the files in which it looks for them.
"""

from __future__ import annotations

import configparser
import posixpath
import tomllib
from collections.abc import Mapping
from typing import Any

from bernstein.checks.content.settings_files import is_quick

_INI = {"pytest.ini": "pytest", ".pytest.ini": "pytest", "tox.ini": "pytest"}
_SECTIONS = {**_INI, "setup.cfg": "tool:pytest"}
_TOML = "pyproject.toml"
_OWN_TOML = ("pytest.toml", ".pytest.toml")
"""Of pytest alone, from version 9 on; they count before all others."""
_NAMES = (
    *("addopts", "testpaths", "norecursedirs", "collect_imported_tests", "xfail_strict"),
    *("python_files", "python_classes", "python_functions", "usefixtures", "required_plugins"),
    *("pythonpath", "asyncio_mode"),
)
UNREADABLE = {"": "it cannot be read"}


FILES = (*_OWN_TOML, *_SECTIONS, _TOML)
_ALONE = {*_OWN_TOML, "pytest.ini", ".pytest.ini"}
"""Such a file is pytest's configuration though it says nothing."""


def is_one(path: str) -> bool:
    """Whether pytest may be configured there."""
    return posixpath.basename(path) in FILES


def settings(path: str, content: bytes) -> Mapping[str, str]:
    """Those that choose tests, by name, without white space that says nothing; {}: none."""
    try:
        found = _section(path, content) or {}
    except (ValueError, RecursionError, configparser.Error):
        return UNREADABLE
    return {name: _plain(found[name]) for name in _NAMES if name in found}


def is_taken(path: str, content: bytes) -> bool:
    """Whether pytest takes the file as its configuration for what lies in its folder and below,
    in place of any further up."""
    try:
        return posixpath.basename(path) in _ALONE or _section(path, content) is not None
    except (ValueError, RecursionError, configparser.Error):
        return True


def _section(path: str, content: bytes) -> Mapping[str, Any] | None:
    """What the file says to pytest; None: it has no section of pytest. Raises ValueError,
    RecursionError, configparser.Error."""
    if not is_quick(path, content):
        raise ValueError(path)
    text, name = content.decode(), posixpath.basename(path)
    if name in _OWN_TOML:
        own = tomllib.loads(text).get("pytest")
        return own if isinstance(own, dict) else None
    if name == _TOML:
        return _of_toml(tomllib.loads(text))
    parser = configparser.RawConfigParser(strict=False)
    parser.read_string(text)
    section = _SECTIONS[name]
    return dict(parser[section]) if parser.has_section(section) else None


def _of_toml(document: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Its table `tool.pytest.ini_options`, and `tool.pytest` of newer releases."""
    tool = document.get("tool")
    own = tool.get("pytest") if isinstance(tool, dict) else None
    if not isinstance(own, dict):
        return None
    older = own.get("ini_options")
    return {**own, **older} if isinstance(older, dict) else own


def _plain(value: object) -> str:
    words = value if isinstance(value, list) else str(value).split()
    return " ".join(map(str, words))
