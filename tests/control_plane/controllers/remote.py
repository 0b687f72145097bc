"""The git server's side of the story: which commit each ref points to, and what came before it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

MAIN = "refs/heads/main"


def sha(text: str) -> str:
    """A commit's or a tree's id."""
    return hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()


def tree_of(commit: str) -> str:
    return sha(f"tree of {commit}")


@dataclass
class Remote:
    refs: dict[str, str] = field(default_factory=lambda: {MAIN: sha("first commit")})
    landed: list[tuple[str, str]] = field(default_factory=list)
    """(ref, commit) of every push of verified work that moved a ref."""

    def commit(self, ref: str, base: str) -> str:
        """One new commit on `base`, at `ref`."""
        self.refs[ref] = sha(f"{ref} on {base}")
        return self.refs[ref]

    def swap(self, ref: str, expect: str | None, commit: str) -> bool:
        """Whether the ref is at the commit afterwards; it moves only from where it is expected."""
        if expect is not None and self.refs.get(ref) == expect:
            self.refs[ref] = commit
            self.landed.append((ref, commit))
        return self.refs.get(ref) == commit
