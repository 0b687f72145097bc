"""The git server's side of the story: which commit each ref points to, and what came before it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Any

from bernstein.api.programs.cache import CacheResult
from bernstein.api.programs.cached import CachedFile, CachedPack
from bernstein.api.programs.forge import ListenResult, ProposeResult, SeenPullRequest
from bernstein.api.programs.prune import DELETED, GONE, MOVED, PruneResult

MAIN = "refs/heads/main"


def sha(text: str) -> str:
    """A commit's or a tree's id."""
    return hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()


def tree_of(commit: str) -> str:
    return sha(f"tree of {commit}")


@dataclass
class Pull:
    """A pull request of two branches, without `refs/heads/`."""

    head: str
    base: str
    state: str = "Open"
    said: list[str] = field(default_factory=list)
    """Comments of people who may write there."""
    red: set[str] = field(default_factory=set)
    """Commits of which its CI has failed."""


@dataclass
class Remote:
    refs: dict[str, str] = field(default_factory=lambda: {MAIN: sha("first commit")})
    landed: list[tuple[str, str]] = field(default_factory=list)
    """(ref, commit) of every push of verified work that moved a ref."""
    made: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Where each commit was pushed first, and the commit before it."""
    pulls: list[Pull] = field(default_factory=list)
    """All that were ever opened; the first one has number 1."""

    def commit(self, ref: str, base: str) -> str:
        """One new commit on `base`, at `ref`."""
        self.refs[ref] = sha(f"{ref} on {base}")
        self.made[self.refs[ref]] = (ref, base)
        return self.refs[ref]

    def prepared(self, config: Any) -> tuple[str, str]:
        """The tip of the branch, and a candidate on it: what people have pushed is one itself."""
        base, theirs = self.refs[config["onto"]], config["pushed"]
        if theirs and theirs["as_it_is"] and base in self.commits(config["ref"]):
            self.refs[config["candidate"]] = config["sha"]
            return base, config["sha"]
        if config["sha"] in self.commits(config["onto"]):
            return base, base  # the tip has all of it
        return base, self.commit(config["candidate"], base)

    def push(self, pull: Pull) -> str:
        """One commit more on its branch, as a person pushes it."""
        ref = f"refs/heads/{pull.head}"
        return self.commit(ref, self.refs[ref])

    def branch(self, ref: str, at: str | None, commit: str) -> bool:
        """Whether the branch is at the commit afterwards; it moves only from there, None: it is
        made where there is none."""
        if self.refs.get(ref) == at:
            self.refs[ref] = commit
        return self.refs[ref] == commit

    def propose(self, head: str, base: str) -> int:
        """The number of the pull request of these branches; one is opened where there is none."""
        for number, pull in enumerate(self.pulls, start=1):
            if (pull.head, pull.base) == (head, base):
                return number
        self.pulls.append(Pull(head, base))
        return len(self.pulls)

    def prune(self, told: dict[str, list[dict[str, str]]]) -> PruneResult:
        """What becomes of each, in a letter; they go where they are at their commits."""
        outcomes = ""
        for each in told["refs"]:
            at = self.refs.get(each["ref"])
            outcomes += GONE if at is None else DELETED if at == each["sha"] else MOVED
            if at == each["sha"]:
                del self.refs[each["ref"]]
        return PruneResult(outcomes)

    def cached(self, told: dict[str, str]) -> CacheResult:
        """The branch's tip is on the volume."""
        commit = self.refs[f"refs/heads/{told['ref']}"]
        files = (CachedFile(f"pack-{commit}.{kind}", 1, 64 * "0") for kind in ("pack", "idx"))
        return CacheResult(CachedPack(commit, *files))

    def merge(self, pull: Pull) -> None:
        """As a person does, where nothing else has moved the branch."""
        self.refs[f"refs/heads/{pull.base}"] = self.refs[f"refs/heads/{pull.head}"]
        pull.state = "Merged"

    def seen(self, number: int) -> SeenPullRequest:
        pull = self.pulls[number - 1]
        told = sha("".join(pull.said)) if pull.said else ""
        tip = self.refs[f"refs/heads/{pull.head}"]
        lacks = self.refs[f"refs/heads/{pull.base}"] not in self.commits(f"refs/heads/{pull.head}")
        behind = lacks and pull.state == "Open"
        ci = "Failed" if tip in pull.red else ""
        return SeenPullRequest(number, pull.state, tip, pull.base, ci, told, behind)

    def asked(self, config: Any) -> ProposeResult:
        """What is told of the one pull request of these branches; or of one that is not to be open
        any more."""
        head, base, number = config["head"], config["base"], config["number"]
        found = [each for each in self.pulls if (each.head, each.base) == (head, base)]
        if not config["close"]:
            number = self.propose(head, base)
        elif not number and not found:
            return ProposeResult(SeenPullRequest(0, "Missing", ""), "")
        elif not number:
            number = self.pulls.index(found[0]) + 1
        if config["close"] and self.pulls[number - 1].state == "Open":
            self.pulls[number - 1].state = "Closed"
        pull = self.seen(number)
        return ProposeResult(pull, f"https://git.example/pulls/{pull.number}")

    def heard(self, number: int, known: list[str]) -> ListenResult:
        """What is said of it, but for what is known."""
        new = tuple(said for said in self.pulls[number - 1].said if said not in known)
        now = self.seen(number)
        failed = now.ci == "Failed"
        text = "\n".join(f"> {said}" for said in (*new, *(["CI failed"] if failed else [])))
        return ListenResult(now.sha, now.said, new, failed, text)

    def commits(self, ref: str) -> list[str]:
        """Those that a ref holds, the newest first."""
        found = [self.refs[ref]]
        while found[-1] in self.made:
            found.append(self.made[found[-1]][1])
        return found

    def content(self, ref: str) -> list[str]:
        """The commits that a ref holds above the first one, the oldest first, by where they were
        pushed first."""
        found: list[str] = []
        commit = self.refs[ref]
        while commit in self.made:
            pushed, commit = self.made[commit]
            found.insert(0, pushed)
        return found

    def swap(self, ref: str, expect: str | None, commit: str) -> bool:
        """Whether the ref is at the commit afterwards; it moves only from where it is expected."""
        if expect is not None and self.refs.get(ref) == expect:
            self.refs[ref] = commit
            self.landed.append((ref, commit))
        return self.refs.get(ref) == commit
