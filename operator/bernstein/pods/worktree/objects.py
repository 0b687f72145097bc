"""The recorder's own repository: takes contents of files, makes one commit on the base of them, and
packs it."""

from __future__ import annotations

import dataclasses
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from bernstein.api.programs.commit import CommitText
from bernstein.core import sanitise
from bernstein.pods.errors import PodError
from bernstein.pods.git import client as git
from bernstein.pods.git import line_counts
from bernstein.pods.git.client import Git
from bernstein.pods.git.line_counts import Lines
from bernstein.pods.worktree.walker import Entry

_BATCH_BYTES = 32 << 20
_REF = "refs/bernstein/snapshot"
_WORDS = 500
"""Characters of what git says of them: it may name what is in them."""
_BLAMED = re.compile(rb"\bobject ([0-9a-f]{40,64})\b|\bin (?:blob|tree) ([0-9a-f]{40,64})\b")


@dataclass(frozen=True, slots=True)
class Commit:
    sha: str
    tree: str


class RefusedContents(Exception):  # noqa: N818 - no failure: the caller leaves them out
    """git's own checks refuse these blobs, such as a `.gitmodules` with a hostile URL."""

    def __init__(self, object_ids: set[str]) -> None:
        super().__init__(", ".join(sorted(object_ids)))
        self.object_ids = object_ids


class Objects:
    """A repository that is made anew at every start. It reads the base's objects from the base's
    repository, to which it never writes."""

    def __init__(self, git_dir: Path, base_git_dir: Path) -> None:
        """Raises GitError when the base cannot be read."""
        self._git_dir = git_dir
        self._base_git_dir = base_git_dir
        self._base_git = Git(base_git_dir)
        self.base = Commit(
            sha=self._base_git.commit_id("HEAD"),
            tree=self._base_git.tree_id("HEAD"),
        )
        self.base_entries = _entries(self._base_git.run("ls-tree", "-r", "-z", self.base.sha))
        self._clear()

    def _clear(self) -> None:
        if self._git_dir.exists():
            shutil.rmtree(self._git_dir)
        self._git = git.init_bare(self._git_dir, [self._base_git_dir])
        self._known = {entry.object_id for entry in self.base_entries.values()}
        self._waiting: dict[str, bytes] = {}
        self._waiting_bytes = 0
        self.written_bytes = 0

    def reset(self) -> None:
        """Drop all objects but the base's: large files of old checkpoints would fill the volume."""
        self._clear()

    # --- contents (what the walker's BlobStore asks for) ----------------------------------------

    def __contains__(self, object_id: str) -> bool:
        return object_id in self._known or object_id in self._waiting

    def add(self, object_id: str, data: bytes) -> None:
        """Take a blob. Blobs are written in batches, so that few are held in memory."""
        self._waiting[object_id] = data
        self._waiting_bytes += len(data)
        if self._waiting_bytes >= _BATCH_BYTES:
            self._write(b"")

    def discard(self) -> None:
        """Drop the blobs that were added since the last write: the walk that added them failed."""
        self._waiting.clear()
        self._waiting_bytes = 0

    def _write(self, commands: bytes) -> bytes:
        """Write the waiting blobs, then run fast-import's `commands`; returns what it printed."""
        blobs = [b"blob\ndata %d\n%s\n" % (len(data), data) for data in self._waiting.values()]
        stream = b"".join([*blobs, commands])
        out = self._git.run("fast-import", "--quiet", "--force", "--depth=0", input=stream)
        self._known.update(self._waiting)
        self.written_bytes += self._waiting_bytes
        self.discard()
        return out

    # --- commits --------------------------------------------------------------------------------

    def commit(self, entries: Mapping[bytes, Entry], text: CommitText, when: int) -> Commit:
        """The commit on the base with exactly these entries, dated `when` (Unix seconds).

        Where the entries are the base's own it is the base itself. Paths that do not differ from
        the base keep the base's tree entries.
        """
        if entries == self.base_entries:
            return self.base
        head = _commit_command(text, when, self.base.sha)
        changes = _changes(self.base_entries, entries)
        sha = self._write(head + changes + b"get-mark :1\n").decode("ascii").strip()
        return Commit(sha, self._git.tree_id(sha))

    def lines(self, commit: Commit) -> Lines:
        """What the commit changes, by lines."""
        return line_counts.look(self._git, self.base.sha, commit.sha)

    def pack(self, commit: Commit) -> Path:
        """A pack with the objects of the commit that the base lacks, checked as servers check it.

        Raises RefusedContents when the check names blobs, PodError when it fails otherwise.
        """
        folder = self._git_dir / "outgoing"
        if folder.exists():
            shutil.rmtree(folder)
        folder.mkdir()
        revisions = f"{commit.sha}\n^{self.base.sha}\n".encode()
        flags = ["--quiet", "--revs", "--threads=1", "--no-reuse-delta"]
        name = self._git.run("pack-objects", *flags, str(folder / "pack"), input=revisions)
        pack = folder / f"pack-{name.decode('ascii').strip()}.pack"
        self._check(pack, folder / "checked.idx")
        return pack

    def _check(self, pack: Path, index: Path) -> None:
        done = self._git.complete("index-pack", "--strict", "-o", str(index), str(pack))
        if done.code == 0:
            return
        blamed = {(a or b).decode() for a, b in _BLAMED.findall(done.stderr)}
        blobs = {i for i in blamed if self._git.complete("cat-file", "blob", i).code == 0}
        if blobs:
            raise RefusedContents(blobs)
        words = done.stderr.decode("utf-8", "replace").strip()
        text = sanitise.quoting("git refuses the objects of the tree", words, _WORDS)
        raise PodError("InvalidPack", text)


def _entries(listing: bytes) -> dict[bytes, Entry]:
    entries = {}
    for record in filter(None, listing.split(b"\0")):
        head, path = record.split(b"\t", 1)
        mode, _, object_id = head.split(b" ")
        entries[path] = Entry(int(mode, 8), object_id.decode("ascii"))
    return entries


def with_trailer(text: CommitText, name: str, value: str) -> CommitText:
    """The commit's text with one more trailer, which joins those that end the message, or begins a
    paragraph of its own."""
    message = text.message.rstrip("\n")
    last = message.rpartition("\n\n")[2].splitlines() if "\n\n" in message else []
    trailers = bool(last) and all(_is_trailer(line) for line in last)
    gap = "\n" if trailers else "\n\n"
    return dataclasses.replace(text, message=f"{message}{gap}{name}: {value}\n")


def _is_trailer(line: str) -> bool:
    name, colon, _ = line.partition(": ")
    return bool(colon) and name.replace("-", "").isalnum()


def _commit_command(text: CommitText, when: int, base: str) -> bytes:
    author = _person(text.author, text.email, when)
    committer = _person(*text.committed_by, when)
    message = text.message.replace("\0", "").encode("utf-8", "replace")
    head = f"commit {_REF}\nmark :1\nauthor {author}\ncommitter {committer}\ndata {len(message)}\n"
    return head.encode() + message + f"\nfrom {base}\n".encode()


def _person(name: str, email: str, when: int) -> str:
    return f"{_plain(name) or 'bernstein'} <{_plain(email)}> {when} +0000"


def _plain(name: str) -> str:
    """The name without what may not stand in git's line of an author: brackets, line breaks."""
    return re.sub(r"[<>\0-\x1f]", "", name).strip()


def _changes(base: Mapping[bytes, Entry], entries: Mapping[bytes, Entry]) -> bytes:
    # All removals first: a file may have become a folder, or the other way round.
    removals = [b"D %s\n" % _quote(path) for path in base if path not in entries]
    updates = [
        b"M %o %s %s\n" % (entry.mode, entry.object_id.encode(), _quote(path))
        for path, entry in entries.items()
        if base.get(path) != entry
    ]
    return b"".join([*removals, *updates])


def _quote(path: bytes) -> bytes:
    """The path as fast-import reads it: quoted, with octal escapes."""
    plain = b"".join(
        b"\\%03o" % byte if byte < 0x20 or byte > 0x7E or byte in b'"\\' else bytes([byte])
        for byte in path
    )
    return b'"' + plain + b'"'
