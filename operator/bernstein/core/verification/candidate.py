"""Candidates: verified work that was put on a newer tip.

A candidate lies below refs/bernstein/, where agents' work is pushed. So it may be gone, or another
commit may be in its place, before it was judged or has landed. Then one more is made of the same
work: never of the candidate before it.
"""

from __future__ import annotations

from typing import Any, Final

from bernstein.api.meta import LONGEST_PATH
from bernstein.api.pod import Changed
from bernstein.api.programs.merge import PrepareResult
from bernstein.api.reasons import Reason
from bernstein.api.verification import MOST_FILES, ChangedFile, Origin, Verification
from bernstein.checks.changes import MOST_PROTECTED
from bernstein.core.sanitise import line

LOST: Final = frozenset(
    {Reason.REF_MOVED, Reason.REF_NOT_FOUND, Reason.TREE_MISMATCH, Reason.NOT_ON_BASE}
)
"""What Jobs say of a candidate that is not where it was made, or not what was made."""


def origin_of(judged: Verification) -> Origin:
    """What is put on a newer tip.

    A candidate that an older release has made does not say what it was made of, and stands for it.
    """
    return judged.origin or Origin(ref=judged.ref, sha=judged.sha)


def is_of_people(judged: Verification) -> bool:
    """Whether it was made of what is at the branch of a pull request, where people push."""
    return judged.origin is not None and not judged.origin.ref.startswith("refs/bernstein/")


def most_changed(changed: Changed) -> tuple[ChangedFile, ...] | None:
    """The files that people are shown, as a status has them; None: nobody has looked at any."""
    files = (
        ChangedFile(path=line(file.path, LONGEST_PATH), added=file.added, deleted=file.deleted)
        for file in changed.most[:MOST_FILES]
    )
    return tuple(files) or None


def facts_of(changed: Changed) -> dict[str, Any]:
    """What a status has of a change, by its fields."""
    more = tuple(line(path, LONGEST_PATH) for path in changed.protected_more[: MOST_PROTECTED - 1])
    return {
        "files_changed": changed.files,
        "most_changed": most_changed(changed),
        "tests_weakened": changed.weakened[:LONGEST_PATH] or None,
        "checks_configured": changed.configured[:LONGEST_PATH] or None,
        "python_changed": changed.python,
        "tests_changed": changed.tests,
        "deps_changed": changed.deps,
        "protected": changed.protected or None,
        "protected_more": more or None,
        "protected_files": changed.protected_files or None,
        "protected_by": changed.protected_by or None,
    }


def can_be_made_anew(judged: Verification | None, origin: Origin, onto: str | None = None) -> bool:
    """Whether it is a candidate whose loss costs no more than another one. `onto`: where it lands;
    what is made of that alone has no other origin."""
    if judged is None or not judged.candidate:
        return False
    return origin.ref != judged.ref or judged.ref == onto


def candidate(
    before: Verification | None, result: PrepareResult, origin: Origin, ref: str
) -> Verification:
    """What the checks judge next, at `ref`."""
    number = before.round + 1 if before is not None else 0
    work = before.formatting if before is not None else None
    found = Verification(
        round=number,
        first_round=number,
        base=result.base,
        sha=result.sha,
        tree=result.tree,
        ref=ref,
        candidate=True,
        origin=origin if origin.ref != ref else None,
        formatting=work,
        **facts_of(result.changed),
    )
    # What an agent has left was formatted, and no more than that.
    return found.model_copy(update={"formatting": None}) if is_of_people(found) else found
