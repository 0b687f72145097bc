"""What a repository's configuration of runners for JavaScript and TypeScript says.

Those of Jest, Vitest, Mocha and `npm test`. Most are programs: nobody runs or parses them, so of a
file that is a runner's alone any change but one of comments counts, and of Vite's the value of
`test`.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Mapping
from itertools import islice

from bernstein.checks.changes import is_test as is_any_test
from bernstein.checks.content.settings_files import is_quick
from bernstein.checks.weakening.counted_tests import is_collected, without_texts

_OWN = re.compile(
    r"(?:jest|vitest)(?:\.[\w-]+)?\.config\.(?:[cm]?[jt]s|json)"
    r"|vitest\.(?:workspace|projects)\.(?:[cm]?[jt]s|json)|\.mocharc(?:\.\w+)?"
)
_VITE = re.compile(r"vite\.config\.[cm]?[jt]s")
_PACKAGE = "package.json"
_SCRIPTS = re.compile(r"(?:pre|post)?test(?::.*)?", re.DOTALL)
_SUFFIX = re.compile(r"\.[cm]?[jt]sx?")
_TEST = re.compile(r"(?<![\w.$])test[ \t]*:[ \t]*(?=[{\[(])")
_BRACKETS = re.compile(r"(?P<open>[(\[{])|[)\]}]")
_ALL = "all of it"
_NAME = 60
_MOST = 10
"""Values that are looked at in one file: each may be all of it."""


def is_one(path: str) -> bool:
    """Whether a runner may be configured there."""
    name = posixpath.basename(path)
    return name == _PACKAGE or any(each.fullmatch(name) for each in (_OWN, _VITE))


def is_test(path: str) -> bool:
    """Whether such a runner looks for tests there."""
    is_script = _SUFFIX.fullmatch(posixpath.splitext(path)[1]) is not None
    return is_script and not is_one(path) and (is_collected(path) or is_any_test(path))


def settings(path: str, content: bytes) -> Mapping[str, str]:
    """What it says of tests, by name; {}: nothing."""
    name = posixpath.basename(path)
    if name == _PACKAGE:
        return _of_package(path, content)
    text = " ".join(without_texts(path, content).split())
    if _OWN.fullmatch(name):
        return {_ALL: text}
    values = (_value(text, found.end()) for found in islice(_TEST.finditer(text), _MOST))
    return {"test": said} if (said := "\n".join(values)) else {}


def _of_package(path: str, content: bytes) -> Mapping[str, str]:
    try:
        said = json.loads(content) if is_quick(path, content) else None
        if not isinstance(said, dict):
            return {_ALL: "it cannot be read"}
        scripts = said.get("scripts")
        scripts = scripts if isinstance(scripts, dict) else {}
        found = {f"scripts.{n[:_NAME]}": of for n, of in scripts.items() if _SCRIPTS.fullmatch(n)}
        found |= {name: said[name] for name in ("jest", "mocha") if name in said}
        return {name: json.dumps(value, sort_keys=True) for name, value in found.items()}
    except (ValueError, RecursionError):
        return {_ALL: "it cannot be read"}


def _value(text: str, start: int) -> str:
    """What stands in the brackets that open there."""
    depth = 0
    for bracket in _BRACKETS.finditer(text, start):
        depth += 1 if bracket["open"] else -1
        if depth <= 0:
            return text[start : bracket.end()]
    return text[start:]
