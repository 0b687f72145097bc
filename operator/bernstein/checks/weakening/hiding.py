"""Files that Python takes in place of tests, and those for which a runner passes over a folder.

Sources: the order in which Python's finders look for a module, how pytest knows a virtual
environment, and what `./...` means to Go.
"""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Iterable, Iterator, Mapping

from bernstein.checks.changes import is_test

MODULE = "go.mod"
"""What lies below it is another module, which `./...` further up leaves out."""
_ENVIRONMENT = "pyvenv.cfg"
_OF_CONDA = "conda-meta"
_ACTIVATE = ("activate", "activate.csh", "activate.fish")
"""In a folder `bin`: by them releases before pytest 8.3 know an environment."""
_BYTECODE = (".pyc", ".pyo")
_EXTENSIONS = (".so", ".pyd")

Hidden = Mapping[str, str]
"""Folders that are passed over, and the file for which they are."""


def in_place(path: str, there: Collection[str]) -> str | None:
    """What is told of a path that differs, where Python may take it in place of a source. `there`:
    the paths of the tree as it is."""
    if path not in there:
        return None
    if path.endswith(_BYTECODE):
        return "is bytecode, which Python may take in place of a source: leave it out (.gitignore)"
    source = _source(path)
    if source in there and is_test(source):
        return f"is taken in place of {source}"
    return None


def _source(path: str) -> str:
    """The source of this name, which comes after it: Python takes a package before an extension,
    and that before a source. "": none has."""
    folder, name = posixpath.split(path)
    stem = name.partition(".")[0]
    if stem == "__init__" and folder:
        return f"{folder}.py"
    is_module = name.endswith(_EXTENSIONS) or "." not in name  # a link to a package has no ending
    return f"{posixpath.join(folder, stem)}.py" if is_module else ""


def hidden(changed: Iterable[str], there: Collection[str]) -> Hidden:
    """The folders in which tests are not looked for because of a path that differs, and is there.
    At the root it does nothing."""
    found = ((_hides(path), path) for path in sorted(changed) if path in there)
    return {folder: path for folder, path in found if folder}


def _hides(path: str) -> str:
    folder, name = posixpath.split(path)
    if name in (MODULE, _ENVIRONMENT, _OF_CONDA):  # of these the last one is a link
        return folder
    folder, above = posixpath.split(folder)
    of_conda = above == _OF_CONDA and name == "history"
    return folder if of_conda or (above == "bin" and name in _ACTIVATE) else ""


def hidden_by(path: str, folders: Hidden) -> str | None:
    """The file for which a test at this path is not looked for; None: there is none."""
    of_go = path.endswith(".go")
    return next(
        (
            folders[each]
            for each in _above(path)
            if each in folders and (posixpath.basename(folders[each]) == MODULE) == of_go
        ),
        None,
    )


def _above(path: str) -> Iterator[str]:
    while path := posixpath.dirname(path):
        yield path
