"""A git server in memory: commits of whole trees, refs, and what our programs do with them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from copy import copy
from dataclasses import dataclass
from typing import Any

from bernstein.api.pod import Changed, Failure, PusherResult
from bernstein.api.programs.formatting import FormatResult, Told
from bernstein.api.programs.merge import BeginResult, LandResult, PrepareResult
from bernstein.checks.changes import digest_of
from bernstein.core.actions import RunBegin, RunFormat, RunLand, RunPrepare

Files = dict[str, str]


def _digest(*parts: Any) -> str:
    return hashlib.sha1(json.dumps(parts, sort_keys=True).encode()).hexdigest()  # noqa: S324


def _lies_in(path: str, folder: str) -> bool:
    return path == folder or path.startswith(f"{folder}/")


@dataclass(frozen=True)
class Commit:
    parents: tuple[str, ...]
    files: tuple[tuple[str, str], ...]

    @property
    def tree(self) -> str:
        return _digest(self.files)


class Remote:
    """Refs and commits; like the programs in `bernstein.pods`, but without git."""

    def __init__(self, target: str) -> None:
        self.commits: dict[str, Commit] = {}
        self.refs: dict[str, str] = {}
        self.refs[target] = self.commit((), {"README": "hello"})

    def copy(self) -> Remote:
        other = copy(self)
        other.commits, other.refs = dict(self.commits), dict(self.refs)
        return other

    def commit(self, parents: tuple[str, ...], files: Files, salt: str = "") -> str:
        made = Commit(parents, tuple(sorted(files.items())))
        sha = _digest(made.parents, made.files, salt)
        self.commits[sha] = made
        return sha

    def files(self, sha: str) -> Files:
        return dict(self.commits[sha].files)

    def tree(self, sha: str) -> str:
        return self.commits[sha].tree

    def contains(self, commit: str, ancestor: str) -> bool:
        todo, seen = [commit], set()
        while todo:
            sha = todo.pop()
            if sha == ancestor:
                return True
            if sha not in seen:
                seen.add(sha)
                todo += self.commits[sha].parents
        return False

    def _merge_base(self, left: str, right: str) -> str:
        """The nearest ancestor of `left` that `right` contains."""
        todo = [left]
        while todo:
            sha = todo.pop(0)
            if self.contains(right, sha):
                return sha
            todo += self.commits[sha].parents
        raise AssertionError("no common commit")

    def human_pushes(self, ref: str, path: str, text: str) -> None:
        tip = self.refs[ref]
        self.refs[ref] = self.commit((tip,), self.files(tip) | {path: text})

    def push_work(self, ref: str, base: str, change: Files) -> PusherResult:
        """One commit on the base, or the base itself."""
        files = self.files(base) | change
        sha = base if files == self.files(base) else self.commit((base,), files, ref)
        self.refs[ref] = sha
        return PusherResult(base, sha, self.tree(sha), final=True)

    def changed(self, base: str, sha: str, protected: Iterable[str]) -> Changed:
        """What our programs say of a commit. Whatever changes a test here takes lines from it, and
        whatever has settings of a linter changes them."""
        before = self.files(base)
        new = [path for path, text in self.commits[sha].files if before.get(path) != text]
        guarded = [path for path in new if any(_lies_in(path, each) for each in protected)]
        return Changed(
            files=len(new),
            python=bool(new),
            protected=guarded[0] if guarded else "",
            protected_by=digest_of(protected),
            weakened=next((path for path in new if _lies_in(path, "tests")), ""),
            configured=next((path for path in new if path.endswith("ruff.toml")), ""),
        )

    def checkout(self, ref: str, sha: str) -> Failure | None:
        found = self.refs.get(ref)
        if found is None:
            return Failure("RefNotFound", f"couldn't find remote ref {ref}")
        if found != sha:
            return Failure("RefMoved", f"{ref} is at {found}, expected {sha}")
        return None

    def format(self, wanted: RunFormat, protected: Iterable[str]) -> FormatResult | Failure:
        """The same change, with a line more in each file of it."""
        problem = self.checkout(wanted.ref, wanted.sha)
        if problem is not None:
            return problem
        before, files = self.files(wanted.base), self.files(wanted.sha)
        new = {path: text for path, text in files.items() if before.get(path) != text}
        formatted = files | {path: f"{text}, formatted" for path, text in new.items()}
        sha = self.refs[wanted.to] = self.commit((wanted.base,), formatted, wanted.to)
        changed = self.changed(wanted.base, sha, protected)
        return FormatResult(wanted.base, sha, self.tree(sha), Told("Passed"), changed)

    def begin(self, wanted: RunBegin) -> BeginResult | Failure:
        tip = self.refs[wanted.target]
        made = self.refs.get(wanted.integration, tip)
        if made != tip and not (wanted.again and self.contains(tip, made)):
            return Failure("IntegrationExists", f"{wanted.integration} is at {made} already")
        self.refs[wanted.integration] = tip
        return BeginResult(tip, tip, wanted.integration)

    def prepare(self, wanted: RunPrepare, protected: Iterable[str]) -> PrepareResult | Failure:
        problem = self.checkout(wanted.ref, wanted.sha)
        if problem is not None:
            return problem
        tip = self.refs[wanted.onto]
        if self.contains(tip, wanted.sha):
            return PrepareResult(tip, tip, self.tree(tip), Changed())
        merged = self._merged(tip, wanted.sha)
        if isinstance(merged, tuple):
            return PrepareResult(tip, "", "", Changed(), merged)
        if merged == self.files(tip):
            return PrepareResult(tip, tip, self.tree(tip), Changed())
        parents = (tip, wanted.sha) if wanted.merge else (tip,)
        sha = self.commit(parents, merged, wanted.candidate)
        self.refs[wanted.candidate] = sha
        return PrepareResult(tip, sha, self.tree(sha), self.changed(tip, sha, protected))

    def _merged(self, ours: str, theirs: str) -> Files | tuple[str, ...]:
        base = self.files(self._merge_base(ours, theirs))
        left, right = self.files(ours), self.files(theirs)
        merged, conflicts = dict(left), []
        for path, text in right.items():
            if text == base.get(path) or text == left.get(path):
                continue
            if left.get(path) != base.get(path):
                conflicts.append(path)
            merged[path] = text
        return tuple(conflicts) if conflicts else merged

    def land(self, wanted: RunLand) -> LandResult | Failure:
        expect = wanted.expect
        if expect is not None and expect != wanted.sha and self.refs[wanted.onto] == expect:
            problem = self.checkout(wanted.ref, wanted.sha)
            if problem is not None:
                return problem
            assert self.tree(wanted.sha) == wanted.tree
            assert self.contains(wanted.sha, expect)
            self.refs[wanted.onto] = wanted.sha
        tip = self.refs[wanted.onto]
        return LandResult("Landed" if self.contains(tip, wanted.sha) else "Moved", tip)
