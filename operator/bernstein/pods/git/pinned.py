"""Takes configuration files from a pinned commit into an index, in place of those that are there.

A configuration may extend another file of any name, or be a symlink to it: that one is pinned, too.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Callable, Iterator, Mapping

from bernstein.checks.linter_files import extended
from bernstein.pods.git import trees
from bernstein.pods.git.client import Git

_SYMLINK, _SUBMODULE = b"120000", b"160000"
_MOST_FILES = 1000
"""Configuration files that are read for what they extend."""

Entries = Mapping[bytes, tuple[bytes, bytes]]


def pin(repository: Git, pinned: str, names: set[str], index: dict[str, str]) -> None:
    """In the index, replace all files of these base names by those of the commit `pinned`.

    So are the files that these extend. In a name `*` stands for any characters. A file of `pinned`
    is left out where the index has a file in the place of one of its folders, but for one that is
    extended: there it takes that place.
    """
    is_named = _named(names)
    present = _entries(repository.run("ls-files", "--stage", "-z", env=index))
    of_pinned = _entries(repository.run("ls-tree", "-r", "-z", pinned))
    named = [path for path in of_pinned if is_named(path)]
    reached = _reached(repository, of_pinned, named)
    removals = {path for path in present if is_named(path)}
    removals |= {each for path in reached for each in (*_links_above(path, present), path)}
    additions = {path for path in named if not _file_above(path, present)}
    additions |= reached & of_pinned.keys()
    nothing = b"0 " + b"0" * len(pinned)
    changes = [nothing + b"\t" + path for path in removals & present.keys()]
    changes += [b"%s %s\t%s" % (*of_pinned[path], path) for path in sorted(additions)]
    if changes:
        data = b"\0".join(changes) + b"\0"
        repository.run("update-index", "--replace", "-z", "--index-info", input=data, env=index)


def _reached(repository: Git, of_pinned: Entries, named: list[bytes]) -> set[bytes]:
    """Paths that the named files extend, and those that these extend, be there any file or not."""
    reached: set[bytes] = set()
    seen: set[bytes] = set()
    unread = [path for path in named if of_pinned[path][0] != _SUBMODULE]
    while unread and len(seen) <= _MOST_FILES:
        seen.update(unread)
        contents = trees.blobs(repository, [_object_id(of_pinned[path]) for path in unread])
        for path in unread:
            content = contents[_object_id(of_pinned[path])]
            reached |= _next(path, of_pinned[path][0], content, reached)
        reached |= {link for path in reached for link in _links_above(path, of_pinned)}
        found = (reached & of_pinned.keys()) - seen
        unread = [path for path in found if of_pinned[path][0] != _SUBMODULE]
    return reached


def _next(path: bytes, mode: bytes, content: bytes, reached: set[bytes]) -> set[bytes]:
    """What a configuration extends; where a symlink leads to, and what is reached through it."""
    if mode != _SYMLINK:
        return {os.fsencode(each) for each in extended(os.fsdecode(path), content)}
    target = posixpath.normpath(posixpath.join(posixpath.dirname(path), content))
    if target.startswith((b"/", b"../")):
        return set()
    through = {target + each[len(path) :] for each in reached if each.startswith(path + b"/")}
    return {target, *through}


def _object_id(entry: tuple[bytes, bytes]) -> str:
    return entry[1].decode("ascii")


def _entries(listing: bytes) -> dict[bytes, tuple[bytes, bytes]]:
    """(mode, object id) by path, out of what `ls-tree -z` or `ls-files --stage -z` printed."""
    entries = {}
    for entry in filter(None, listing.split(b"\0")):
        head, path = entry.split(b"\t", 1)
        words = head.split(b" ")
        entries[path] = (words[0], words[2] if words[1] in {b"blob", b"commit"} else words[1])
    return entries


def _named(names: set[str]) -> Callable[[bytes], bool]:
    """Whether the file at a path has one of these base names."""
    some = (re.escape(os.fsencode(name)).replace(rb"\*", b".*") for name in sorted(names))
    pattern = re.compile(b"|".join(some), re.DOTALL)
    return lambda path: pattern.fullmatch(path.rsplit(b"/", 1)[-1]) is not None


def _folders(path: bytes) -> Iterator[bytes]:
    parts = path.split(b"/")
    return (b"/".join(parts[:i]) for i in range(1, len(parts)))


def _file_above(path: bytes, present: Entries) -> bool:
    """Whether one of the path's folders is a file in `present`."""
    return any(folder in present for folder in _folders(path))


def _links_above(path: bytes, present: Entries) -> list[bytes]:
    """The path's folders that are symlinks in `present`."""
    return [each for each in _folders(path) if present.get(each, (b"",))[0] == _SYMLINK]
