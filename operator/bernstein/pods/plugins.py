"""Lays out what a gate of a Project's own in Python needs, while nothing of either tree has run."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import bernstein_gates
from bernstein.api.programs.plugin import GATES_FOLDER, PluginConfig
from bernstein.api.reasons import VerdictReason
from bernstein.checks import gates, tools
from bernstein.checks.changes import changed_from_paths
from bernstein.checks.gate import PLUGIN_TOOL
from bernstein.pods.errors import PodError
from bernstein.pods.git import trees
from bernstein.pods.git.client import Git

_MOST_FILES = 64
_MOST_BYTES = 1_000_000


def lay_out(repository: Git, config: PluginConfig, sha: str, tree: str, folder: Path) -> None:
    """Puts the program, the Project's gates and what they are told of the change into the folder.

    `sha`: the work; `tree`: the commit whose files lie where the gate runs. Raises
    PodError(PluginInvalid) for a gate that is no plain file, or too large.
    """
    shutil.copyfile(tools.file(PLUGIN_TOOL), folder / f"{PLUGIN_TOOL}.py")
    package = folder / "lib" / bernstein_gates.__name__
    package.mkdir(parents=True)
    shutil.copy(Path(bernstein_gates.__file__), package)
    (folder / "gates").mkdir()
    for name, content in _files(repository, config.pinned_sha).items():
        (folder / "gates" / name).write_bytes(content)
    change = _change(repository, config, sha, tree)
    (folder / "change.json").write_text(json.dumps(change))


def _files(repository: Git, commit: str) -> dict[str, bytes]:
    """The gates of the commit, by the names of their files."""
    found = trees.in_folders(repository, commit, [GATES_FOLDER])
    files = {os.fsdecode(path): entry for path, entry in found.items() if path.endswith(b".py")}
    for path, entry in files.items():
        if not entry.is_file:
            raise _invalid(f"{path} is no plain file")
        if entry.size > _MOST_BYTES:
            raise _invalid(f"{path} has over {_MOST_BYTES} bytes")
    if len(files) > _MOST_FILES:
        raise _invalid(f"{GATES_FOLDER} has over {_MOST_FILES} files")
    contents = trees.blobs(repository, [entry.object_id for entry in files.values()])
    return {Path(path).name: contents[entry.object_id] for path, entry in files.items()}


def _invalid(text: str) -> PodError:
    return PodError(VerdictReason.PLUGIN_INVALID, text)


def _change(repository: Git, config: PluginConfig, sha: str, tree: str) -> dict[str, object]:
    """What the program is told: the changed files that are there, and which conditions are met."""
    paths = [change.path for change in trees.changed_paths(repository, config.since, sha)]
    present = trees.entries(repository, tree)
    there = (path for path in paths if path in present)
    files = [path for path in there if present[path].is_file or present[path].is_symlink]
    facts = changed_from_paths(paths)
    met = {
        "any_changed": bool(paths),
        "python_changed": facts.python,
        "tests_changed": facts.tests,
        "deps_changed": facts.deps,
    }
    return {
        "changed": [os.fsdecode(path) for path in files],
        "met": [condition for condition, is_met in met.items() if is_met],
        "ask_condition": config.ask_condition,
        "title": config.title,
        "description": config.description,
        "taken": gates.names(),
    }
