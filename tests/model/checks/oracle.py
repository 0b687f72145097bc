"""What must hold of verdicts: each is what the check said of that tree, or what follows from it.

Where the command of a required check is not found, and is not found when it runs again on the same
tree, nobody says that it has failed: it has, if the commit before the work finds that command.

A verdict that was known before is one that the check has said of the same tree with the same commit
before it, whose work ever that was. What a person has let go on without a gate is known of nothing
else: it is the commit, on its base, to which that gate as it is has said no.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from typing import TypeAlias

from bernstein.api.pod import CHECK, FORMAT, INSPECT
from bernstein.api.verification import CheckResult, Verification
from bernstein.checks import gates
from bernstein.core import labels
from tests.model.cluster.programs import FOUND_NOTHING, GOES_ON, OUT_OF_MEMORY, Run

Asked: TypeAlias = tuple[str, str]
"""What a check asks, and the commit that it is asked of."""
TWICE = 2
SAY_NO = ("Failed", "TimedOut")


class Verdicts:
    def __init__(self, tree: Callable[[str], str]) -> None:
        """`tree`: of a commit."""
        self._tree = tree
        self._passed: set[Asked] = set()
        """Of checks that passed, whoever heard of it."""
        self._failed: set[Asked] = set()
        self._not_found: Counter[Asked] = Counter()
        """How many of the last runs that ended by themselves, in a row, lacked their command."""
        self._found_before: set[Asked] = set()
        """Commits before some work that were asked, too, and where there was the command."""
        self._begun: Counter[Asked] = Counter()
        self._judged: Counter[Asked] = Counter()
        self._formatted: set[tuple[str, str]] = set()
        """What was formatted, and the commit that was made of it."""
        self._bases: dict[tuple[str, str], set[str]] = defaultdict(set)
        """The commits before a commit, as statuses of its owner have it."""
        self._owners: dict[str, set[tuple[str, str]]] = defaultdict(set)
        """Whose commits checks have judged, by their tree: the owner's uid, and the commit."""
        self._noes: set[tuple[str, ...]] = set()
        """Of checks, as statuses have told them: see ``_no``."""

    def started(self, run: Run) -> None:
        if run.role in (CHECK, INSPECT) and _commit_before(run) is None:
            self._begun[_asks(run), run.config("checkout")["sha"]] += 1

    def seen(self, owner: str, judged: Verification) -> None:
        self._bases[owner, judged.sha].add(judged.base)
        said_no = (r for r in judged.checks if r.verdict in SAY_NO)
        self._noes |= {_no(owner, judged, result, result.verdict) for result in said_no}

    def told(self, run: Run, sha: str, verdict: str) -> None:
        """How a check has ended, or that it goes on for ever: see ``Witness``."""
        if run.role == FORMAT:
            self._formatted.add((run.config("checkout")["sha"], sha))
            return
        before, asked = _commit_before(run), (_asks(run), sha)
        if before is not None:
            if verdict not in (FOUND_NOTHING, OUT_OF_MEMORY):
                self._found_before.add((asked[0], before))
            return
        if verdict == GOES_ON:
            return
        self._owners[self._tree(sha)].add((run.owner, sha))
        self._judged[asked] += 1
        self._not_found[asked] = self._not_found[asked] + 1 if verdict == FOUND_NOTHING else 0
        if verdict in ("Failed", OUT_OF_MEMORY):
            self._failed.add(asked)
        if verdict != "Passed":
            return
        self._passed.add(asked)
        if run.role == INSPECT:
            self._passed |= {(c["name"], sha) for c in run.config(INSPECT)["checks"]}

    def unsaid(self, judged: Verification) -> Iterator[str]:
        """Verdicts of a status that no check has said, in words."""
        for result in judged.checks:
            if result.name in gates.that_format():
                if result.verdict == "Passed" and not self._was_formatted(judged):
                    yield f"{result.name} is said to have changed it"
                continue
            if result.cached:
                continue
            asked = (result.asked, judged.sha)
            if result.verdict == "Passed" and not self._has_passed(result, judged.sha):
                yield result.name
            if result.verdict == "Failed" and not self._has_failed(result, judged, judged.sha):
                yield f"{result.name} is said to have failed"
            hung = self._judged[asked] < self._begun[asked]
            if result.verdict == "TimedOut" and self._begun[asked] and not hung:
                yield f"{result.name} is said to have timed out"

    def unasked(self, judged: Verification) -> Iterator[str]:
        """Verdicts that a status says were known, and that are of another question, in words."""
        same = self._of_the_same(judged)
        for result in judged.checks:
            if not result.cached:
                continue
            passed = result.verdict == "Passed" and any(self._has_passed(result, s) for s in same)
            failed = result.verdict == "Failed" and any(
                self._has_failed(result, judged, sha) for sha in same
            )
            # The no that was known was looked at when it was told: see ``unasked_of_people``.
            known = passed or failed or result.bypass is not None
            if judged.uncached or not known:
                yield f"{result.name} is said to be known: {result.verdict}"

    def unasked_of_people(self, owner: str, judged: Verification) -> Iterator[str]:
        """Gates without which people are said to have let this go on, and which have not said no to
        exactly this before, in words."""
        for result in judged.checks:
            if result.verdict != "Bypassed" and result.bypass is None:
                continue
            before = result.bypass.verdict if result.bypass is not None else ""
            if _no(owner, judged, result, before) not in self._noes:
                yield f"{result.name}: {result.verdict} instead of {before or 'nothing'}"

    def _of_the_same(self, judged: Verification) -> list[str]:
        """Commits of the same tree that were compared with the same one."""
        of_tree = self._owners[judged.tree]
        return [sha for owner, sha in of_tree if judged.base in self._bases[owner, sha]]

    def _was_formatted(self, judged: Verification) -> bool:
        """Whether it is the commit that was made of the work, or a candidate of that."""
        if judged.formatting is None or judged.formatting.work is None:
            return False
        made = judged.origin.sha if judged.origin is not None else judged.sha
        return (judged.formatting.work.sha, made) in self._formatted

    def _has_passed(self, result: CheckResult, sha: str) -> bool:
        return (result.asked, sha) in self._passed or (result.name, sha) in self._passed

    def _has_failed(self, result: CheckResult, judged: Verification, sha: str) -> bool:
        asked = (result.asked, sha)
        if asked in self._failed:
            return True
        twice = self._not_found[asked] >= TWICE
        return result.required and twice and (result.asked, judged.base) in self._found_before


def _no(owner: str, judged: Verification, result: CheckResult, verdict: str) -> tuple[str, ...]:
    """Names whose commit was judged, on what, by which check as it was, and how."""
    return owner, judged.sha, judged.base, result.name, result.asked, verdict


def _asks(run: Run) -> str:
    return run.labels[labels.ASKED]


def _commit_before(run: Run) -> str | None:
    """The commit before the work, where a check is asked of that alone: no verdict on the work."""
    begun = run.config("checkout")
    return begun["base"] if run.role == CHECK and begun["worktree"] is None else None
