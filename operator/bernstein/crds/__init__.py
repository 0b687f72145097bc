"""The CustomResourceDefinitions, generated from the models and the registries.

`python -m bernstein.crds [DIR ...]` writes one file per kind into every folder named; without one,
into the repository's folders (run it at the root of the repository). With `--check` it writes
nothing, names the files that are not up to date, and fails if there are any.
"""

from __future__ import annotations

from bernstein.crds.broken import broken
from bernstein.crds.editor import of_object, of_plan_file
from bernstein.crds.expressions import is_cidr, matches
from bernstein.crds.files import FOLDERS, files, main, outdated, write
from bernstein.crds.kinds import AGE, KINDS, Kind
from bernstein.crds.schema import definition, object_schema

__all__ = [
    "AGE",
    "FOLDERS",
    "KINDS",
    "Kind",
    "broken",
    "definition",
    "files",
    "is_cidr",
    "main",
    "matches",
    "object_schema",
    "of_object",
    "of_plan_file",
    "outdated",
    "write",
]
