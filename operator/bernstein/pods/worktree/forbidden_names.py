"""File names that git refuses, because some file system takes them for git's own.

A push to a server that checks objects (`receive.fsckObjects`) fails for the whole commit when one
of them is in it. The rules are those of git's `verify_path` and `fsck`; where these are in doubt,
a name is refused.
"""

from __future__ import annotations

import re

_IGNORED_BY_HFS = dict.fromkeys(
    [*range(0x200C, 0x2010), *range(0x202A, 0x202F), *range(0x206A, 0x2070), 0xFEFF]
)
"""Code points that HFS+ leaves out when it compares names."""

_NTFS_GIT = re.compile(rb"(\.git|git~1)[ .]*(:.*)?\Z", re.IGNORECASE | re.DOTALL)
_NTFS_GITMODULES = re.compile(
    rb"(\.gitmodules|gitmod~[1-9]|(g|gi|gi7|gi7e|gi7eb|gi7eba)?~[1-9][0-9]*)[ .]*(:.*)?\Z",
    re.IGNORECASE | re.DOTALL,
)
_NTFS_GITATTRIBUTES = re.compile(
    rb"(\.gitattributes|gitatt~[1-9]|(g|gi|gi7|gi7d|gi7d2|gi7d29)?~[1-9][0-9]*)[ .]*(:.*)?\Z",
    re.IGNORECASE | re.DOTALL,
)


def is_git_directory(name: bytes) -> bool:
    """Whether the name is `.git` in any case: a nested repository's own data."""
    return name.lower() == b".git"


def is_refused(name: bytes, symlink: bool) -> bool:
    """Whether git refuses a tree that holds this name (of a symlink, if `symlink`)."""
    if _is_plain(name):
        return False
    if _is_any(name, _NTFS_GIT, ".git"):
        return True
    return symlink and _is_any(name, _NTFS_GITMODULES, ".gitmodules")


def is_checked(name: bytes) -> bool:
    """Whether git checks the contents of files of this name, and may refuse them."""
    if _is_plain(name):
        return False
    modules = _is_any(name, _NTFS_GITMODULES, ".gitmodules")
    return modules or _is_any(name, _NTFS_GITATTRIBUTES, ".gitattributes")


def _is_plain(name: bytes) -> bool:
    """Whether the name is surely harmless: true for nearly every name, and quick to tell."""
    return name.isascii() and b"~" not in name and b"git" not in name.lower()


def _is_any(name: bytes, on_ntfs: re.Pattern[bytes], on_hfs: str) -> bool:
    parts = name.split(b"\\")  # a path separator on NTFS
    return any(map(on_ntfs.match, parts)) or _as_hfs_sees(name) == on_hfs


def _as_hfs_sees(name: bytes) -> str:
    """The name as HFS+ compares it: in lower case, without the ignored code points, up to the first
    bytes that are no UTF-8."""
    try:
        text = name.decode()
    except UnicodeDecodeError as error:
        text = name[: error.start].decode()
    text = re.split("[\ufffe\uffff]", text, maxsplit=1)[0]
    return text.translate(_IGNORED_BY_HFS).lower()
