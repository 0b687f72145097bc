"""Program `land`: pushes the verified commit to its branch, and reads the remote to prove it.

The Job may be run again after any crash, so the remote alone decides: a tip that contains the
commit is Landed, whoever pushed it; any other tip is Moved, and nothing is pushed. Where nobody
knows whether an earlier Job has pushed, it only looks.

Of what others have merged it looks for the same change, too: a squash and a rebase make other
commits of it.

A commit that goes by a pull request is brought to the branch of that, while what it stands on is
where it was.

Where the Project signs, what is pushed is a signed copy of the verified commit: the same tree on
the same parents. Whether that is there is looked for as well.

What was verified of the commit is pushed with it, both or neither. Where the server cannot promise
that, a signed attestation comes first: with a key nothing lands without one.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from bernstein.api.programs.merge import LandConfig, LandResult
from bernstein.api.reasons import LEFT, Reason
from bernstein.pods import log
from bernstein.pods.errors import PodError
from bernstein.pods.git import client as git
from bernstein.pods.git import signing
from bernstein.pods.git.attestation import Attestation, attestation_of, state_of
from bernstein.pods.git.client import Git, GitError, full_ref
from bernstein.pods.git.merge import has_change, is_ancestor

CONFIG = LandConfig


def run(config: LandConfig) -> LandResult:
    """Push, if the branch is where it is expected, and say where it is now.

    Raises PodError when the commit is not the verified one, the server refuses it, or the key of
    attestations cannot be used.
    """
    git.init_bare(Path(config.git_dir))
    repository = Git(Path(config.git_dir), config.remote)
    expect, verified = config.expect, config.sha
    tip = _tip(repository, config.onto) if expect not in (None, verified) else expect
    pushes = expect is not None and expect != verified and tip == expect
    if tip is not None and tip != expect and config.branch_at == verified:
        # No push of ours has brought it there: that it is there says nothing of its attestation.
        log.event("land", state="Moved", tip=tip, sha=verified, attestation="")
        return LandResult("Moved", tip)
    if pushes and expect is not None:
        _verify(repository, config, expect)
    if not config.by_others:
        config = signing.what_lands(repository, config, pushes=pushes)
    attestation = attestation_of(repository, config)
    if pushes and expect is not None:
        _push(repository, config, expect, attestation)
    result = _look(repository, config, attestation)
    if result.state == "Landed" and config.sha != verified:
        result = replace(result, sha=config.sha)
    _log(result, config.sha, pushes=pushes)
    return result


def _log(result: LandResult, sha: str, *, pushes: bool) -> None:
    """Who only looks misses nothing: the commit may have been there before, and others may have
    said something else of it."""
    attestation = result.attestation
    if not pushes and attestation == "Missing":
        attestation = "none of this work"
    told = {"state": result.state, "tip": result.tip, "sha": sha, "attestation": attestation}
    log.event("land", **told, looked=not pushes)


def _target(config: LandConfig) -> str:
    """Where it is brought to."""
    return config.branch or config.onto


def _tip(repository: Git, onto: str) -> str:
    return _there(repository.read_ref(onto), onto)


def _there(tip: str | None, onto: str) -> str:
    if tip is None:
        raise PodError(
            Reason.REF_NOT_FOUND, f"the repository has no {onto}: was the branch deleted?"
        )
    return tip


def _verify(repository: Git, config: LandConfig, expect: str) -> None:
    """Raise PodError unless the ref is at the commit with the verified tree, on the expected
    tip."""
    ref, sha = full_ref(config.ref), config.sha
    repository.fetch([f"{ref}:{ref}"])
    repository.expect_at(config.ref, sha)
    tree = repository.tree_id(sha)
    if tree != config.tree:
        message = f"{sha} holds the tree {tree}, verified was {config.tree}"
        raise PodError(Reason.TREE_MISMATCH, message)
    if not repository.has_commit(expect) or not is_ancestor(repository, expect, sha):
        message = f"{sha} does not stand on {expect}: prepare it again"
        raise PodError(Reason.NOT_ON_BASE, message)


def _push(
    repository: Git, config: LandConfig, expect: str, attestation: Attestation | None
) -> None:
    to, at = _target(config), expect if config.branch is None else config.branch_at
    try:
        if attestation is None:
            repository.push(to, config.sha, at)
        else:
            beside = (attestation.ref, attestation.object_id)
            repository.push_with(to, config.sha, at, *beside)
    except GitError as error:
        # The server may have taken the push although its answer was lost; and that somebody else
        # pushed first is no failure.
        log.event("push-failed", reason=error.reason, message=error.message)
        if attestation is not None and repository.read_ref(to) == at:
            # The server has taken neither, in whatever words: it may take one after the other.
            _attest_first(repository, config, attestation)
            _push(repository, config, expect, None)
        elif error.reason != Reason.REF_MOVED or config.branch is not None:
            _unless_it_is_there(repository, config, error)


def _unless_it_is_there(repository: Git, config: LandConfig, error: GitError) -> None:
    """Raise why the push failed, unless the server has taken it all the same."""
    if _look(repository, config).state == "Landed":
        return
    if config.branch is not None:
        at = repository.read_ref(config.branch)
        if at != config.branch_at:
            raise PodError(Reason.BRANCH_TAKEN, _taken(config, at)) from error
    other = _in_the_way(repository, config)
    if other is not None:
        message = f"the server has {other}, beside which there can be no {config.branch}"
        raise PodError(Reason.BRANCH_TAKEN, message) from error
    raise error


def _taken(config: LandConfig, at: str | None) -> str:
    """What has become of the branch, which is `at` this commit now, or gone."""
    if config.branch_at is None:
        return f"somebody else has made {config.branch}: it is at {at}"
    left = f"{config.branch} {LEFT} {config.branch_at}"
    if at is None:
        return f"{left}, and is not there: somebody has renamed or deleted it"
    return f"{left}, and is at {at}: somebody else has pushed to it"


def _in_the_way(repository: Git, config: LandConfig) -> str | None:
    """A branch whose name is that of a folder in which ours would lie: git can have one alone."""
    if config.branch is None:
        return None
    parts = full_ref(config.branch).split("/")
    above = ["/".join(parts[:number]) for number in range(3, len(parts))]
    if not above:
        return None
    there = zip(above, repository.read_refs(*above), strict=True)
    return next((ref for ref, sha in there if sha is not None), None)


def _attest_first(repository: Git, config: LandConfig, attestation: Attestation) -> None:
    """Raises PodError(AttestationRefused). An unsigned one, which proves nothing, comes last."""
    if not attestation.is_signed:
        return
    try:
        repository.overwrite(attestation.ref, attestation.object_id)
    except GitError as error:
        if error.reason == Reason.CREDENTIAL_REFUSED:
            raise
        _tip(repository, config.onto)  # raises where the server is not there at all
        raise PodError(Reason.ATTESTATION_REFUSED, _refusal(attestation, error)) from error


def _refusal(attestation: Attestation, error: GitError) -> str:
    return f"the git server does not take {attestation.ref}: {error.message}"


def _look(
    repository: Git, config: LandConfig, attestation: Attestation | None = None
) -> LandResult:
    """Where the branch is now, whether it contains the commit, and what is there about it."""
    to, there = _target(config), None
    if attestation is None:
        tip = repository.read_ref(to)
    else:
        tip, there = repository.read_refs(to, attestation.ref)
    if config.branch is None:
        tip = _there(tip, to)
    if tip is None or (tip != config.sha and not _contains(repository, config, tip)):
        if tip is not None and config.by_others and _has_change(repository, config, tip):
            return LandResult("Landed", tip)
        return LandResult("Moved", _tip(repository, config.onto))
    if config.attest is None:
        return LandResult("Landed", tip)
    if attestation is None:
        return LandResult("Landed", tip, "Missing")
    return _attested(repository, config, attestation, there, LandResult("Landed", tip))


def _attested(
    repository: Git,
    config: LandConfig,
    attestation: Attestation,
    there: str | None,
    landed: LandResult,
) -> LandResult:
    """What the remote has about a commit that has landed, whoever has pushed that. It has landed:
    nothing of this is a failure any more."""
    refused = ""
    try:
        if there != attestation.object_id and config.expect is not None:
            there = _attest_late(repository, config, attestation)
    except GitError as error:
        log.event("attestation-failed", reason=error.reason, message=error.message)
        refused = _refusal(attestation, error)
    if there == attestation.object_id:
        return replace(landed, attestation=attestation.state)
    try:
        state = state_of(repository, attestation) if there is not None else "Missing"
    except GitError as error:
        log.event("attestation-unread", reason=error.reason, message=error.message)
        state = "Missing"
    return replace(landed, attestation=state, refused=refused)


def _attest_late(repository: Git, config: LandConfig, attestation: Attestation) -> str | None:
    """Where the ref is then. Raises GitError."""
    to = full_ref(_target(config))
    repository.fetch([f"{to}:refs/seen"])
    if repository.tree_id(config.sha) != config.tree:
        return None
    repository.overwrite(attestation.ref, attestation.object_id)
    return repository.read_ref(attestation.ref)


def _contains(repository: Git, config: LandConfig, tip: str) -> bool:
    to = full_ref(_target(config))
    repository.fetch([f"{to}:refs/seen"])
    known = repository.has_commit(tip) and repository.has_commit(config.sha)
    return known and is_ancestor(repository, config.sha, tip)


def _has_change(repository: Git, config: LandConfig, tip: str) -> bool:
    """Raises PodError(RefNotFound) where the commit is not at its ref any more."""
    ref = full_ref(config.ref)
    repository.fetch([f"{ref}:{ref}"])
    if not repository.has_commit(config.sha):
        raise PodError(Reason.REF_NOT_FOUND, f"{config.ref} does not hold {config.sha}")
    return has_change(repository, config.sha, tip)
