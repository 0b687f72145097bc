"""Files that a prompt is to hold, read as blobs of one commit: no work tree, no symlink followed.

A path is what a person wrote. Whatever is there that is no text gets a sentence in its place.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from bernstein.core.prompts.assembly import LARGEST, ContextFile, Told
from bernstein.pods.errors import PodError
from bernstein.pods.git import trees
from bernstein.pods.git.client import Git


def context_files(repository: Git, commit: str, paths: tuple[str, ...]) -> list[ContextFile]:
    """What is at each path, each path once, in their order. Never raises for what is there."""
    return [_at(repository, commit, path) for path in dict.fromkeys(paths)]


def told(repository: Git, commit: str, knowledge: Iterable[Told]) -> list[Told]:
    """The same, with what is at each path. Never raises for what is there."""
    return [_with_text(repository, commit, each) if each.path else each for each in knowledge]


def _with_text(repository: Git, commit: str, told: Told) -> Told:
    found = _at(repository, commit, told.path)
    if found.text is not None and not found.text.strip():
        return replace(told, text=None, why="it is empty")
    return replace(told, text=found.text, why=found.why)


def _at(repository: Git, commit: str, path: str) -> ContextFile:
    try:
        found = _read(repository, commit, path)
    except PodError as error:
        found = f"it could not be read: {error.message}"
    if isinstance(found, str):
        return ContextFile(path, None, found)
    if b"\0" in found:
        return ContextFile(path, None, "it is no text")
    try:
        return ContextFile(path, found.decode())
    except UnicodeDecodeError:
        return ContextFile(path, None, "it is no text in UTF-8")


def _read(repository: Git, commit: str, path: str) -> bytes | str:
    """The content at the path, or why there is none to show."""
    parts = [part for part in path.split("/") if part not in {"", "."}]
    if path.startswith("/") or ".." in parts or not parts or not _is_name(path):
        return "it is not in the repository: paths are relative to its root"
    entry = trees.entry(repository, commit, "/".join(parts))
    if entry is None:
        return "there is no such file in the commit that you begin with"
    if entry.is_symlink:
        return "it is a symbolic link, which is not followed"
    if entry.is_folder:
        return "it is a folder"
    if not entry.is_file:
        return "it is a submodule, whose files are not here"
    if entry.size > LARGEST:
        return f"{entry.size:,} bytes are too many for a prompt: read it in the current folder"
    return trees.blob(repository, entry.object_id)


def _is_name(path: str) -> bool:
    """Whether a file may be called so."""
    return "\0" not in path and not any("\ud800" <= c <= "\udfff" for c in path)
