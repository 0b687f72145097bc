"""Program `prune`: deletes refs that nobody needs any more, each only where it was written down.

What it is told is all that it touches: it looks at no other ref, whatever there is. It may run
again after any crash, so the remote alone decides: what is gone already is gone.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from bernstein.api.programs.prune import (
    DELETED,
    GONE,
    MOVED,
    REFUSED,
    PruneConfig,
    PruneResult,
    RefAt,
)
from bernstein.core import names
from bernstein.pods import log
from bernstein.pods.errors import PodError
from bernstein.pods.git import client as git
from bernstein.pods.git.client import Git, GitError
from bernstein.pods.git.errors import AmbiguousError

CONFIG = PruneConfig


def run(config: PruneConfig) -> PruneResult:
    """What became of each. Raises PodError where the git server cannot be asked, or where it is
    told of a ref that is not ours to delete: then nothing is."""
    for each in config.refs:
        if not names.is_of_owner(each.ref):
            raise PodError("InvalidConfig", f"{each.ref} is no ref of a Plan or a Task")
    git.init_bare(Path(config.git_dir))
    repository = Git(Path(config.git_dir), config.remote)
    refs = [each.ref for each in config.refs]
    before = repository.read_refs(*refs)
    there = [
        each
        for each, sha in zip(config.refs, before, strict=True)
        if sha is not None and sha == each.sha
    ]
    refused = _delete(repository, there)
    after = repository.read_refs(*refs) if there else before
    outcomes = "".join(map(_outcome, config.refs, before, after))
    log.event("pruned", **{_WORDS[each]: count for each, count in Counter(outcomes).items()})
    if refused is None or REFUSED not in outcomes:
        return PruneResult(outcomes)
    return PruneResult(outcomes, refused.reason, refused.message)


_WORDS = {DELETED: "deleted", GONE: "gone", MOVED: "moved", REFUSED: "refused"}


def _delete(repository: Git, refs: list[RefAt]) -> GitError | None:
    """Why some of them may still be there. The server may have deleted them although its answer
    was lost: whoever reads the remote knows."""
    if not refs:
        return None
    try:
        repository.delete({each.ref: each.sha for each in refs})
    except GitError as error:
        log.event("push-failed", reason=error.reason, message=error.message)
        if not isinstance(error, AmbiguousError) or len(refs) == 1:
            return error
        # It has git give up the whole push: it keeps one ref, and not those that come with it.
        half = len(refs) // 2
        found = [_delete(repository, part) for part in (refs[:half], refs[half:])]
        return next((each for each in found if each is not None), None)
    return None


def _outcome(asked: RefAt, before: str | None, after: str | None) -> str:
    if before is None:
        return GONE
    if after is None:
        return DELETED if before == asked.sha else GONE
    return REFUSED if after == asked.sha else MOVED
