"""What gates have said of the same tree before: a round begins with it, and leaves its own.

    round begins ──▶ a verdict is known of the same question ──▶ it stands, marked `cached`
                 └─▶ none is ──▶ a Job ──▶ its verdict is kept, where it is one of the tree's, and
                                 the Job was made with what is part of the question at its end

A gate that compares is asked of the base, too, which other work stands on as well: where it has no
verdict, what it found or measured there may be known, and it is run on the work alone.

The question is the gate with all its settings, the tree, the commit before it, the commit that
configuration is read from, what the step says, and the images that judge. Whatever is none of that
makes a gate one that does not last: it asks somebody else, or measures this moment.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from bernstein.api.encoding import fields_of, load
from bernstein.api.pod import CHECK, CHECKOUT, INSPECT, LISTERS, CheckoutResult
from bernstein.api.programs.comparing import Compared
from bernstein.api.project import ProjectSpec
from bernstein.api.reasons import Reason, VerdictReason
from bernstein.api.verification import CheckResult, Verification
from bernstein.checks.outputs import baseline
from bernstein.checks.spec import CheckSpec
from bernstein.core import labels, names, pods
from bernstein.core.actions import KeepVerdicts, KnownBase, RunCheck
from bernstein.core.gate_cache import GateCache, Kept, KeptBase, KeptVerdict, exact
from bernstein.core.jobs import JobView
from bernstein.core.sanitise import within
from bernstein.core.verification import base
from bernstein.core.verification.executed import result_of
from bernstein.core.verification.inspections import inspections
from bernstein.core.verification.look import Look, Question, RunAnswers

EXCERPT_BYTES = 2048
"""As much as a verdict in a status has: its end says most."""
_FORM = 1
"""Of keys: where a key gets to mean something else, this is another number."""
_KEY = 40
"""Characters of a key."""
_IMAGES = 2
"""That run a command and compare."""
_DIGEST = 16
"""Characters of what a Job was made with: it is compared with one other."""
_NOT_OF_THE_TREE = (
    Reason.TIMEOUT,
    VerdictReason.OUT_OF_MEMORY,
    VerdictReason.RESOURCE_LIMIT,
    VerdictReason.UNREADABLE,
    VerdictReason.PLUGIN_FAILED,
)
"""Why a gate has Failed, where the next time may be another: it is asked again."""
_SKIPPED_FOR_THE_TREE = (VerdictReason.CONDITION_NOT_MET, VerdictReason.NO_BASELINE)
"""Not BaseFails: it may be that the base was too slow, and people are told to mend what is."""


def begun(
    question: Question, judged: Verification, existing: Mapping[str, JobView]
) -> tuple[Verification, tuple[KeepVerdicts, ...]]:
    """The round with the verdicts that are known, and with word that they were of use.

    Only before any Job of it is there: later a verdict would take the place of one at work.
    """
    if question.cache is None or existing or judged.again is not None or judged.uncached:
        return judged, ()
    if not judged.tree:
        return judged, ()
    known = dict(_known(question, question.cache, judged))
    if not known:
        return judged, ()
    results = tuple(result for result, _ in known.values())
    update = {"checks": results, "again": (), "since": judged.round}
    of_use = tuple((key, kept) for key, (_, kept) in known.items())
    return judged.model_copy(update=update), (KeepVerdicts(of_use),)


def unknown(judged: Verification) -> Verification:
    """The round as if nothing had been known before it: Jobs may have been asked for by a process
    that did not know it either."""
    asked = tuple(result for result in judged.checks if not result.cached)
    return judged if asked == judged.checks else judged.model_copy(update={"checks": asked})


def made_with(checks: Iterable[CheckSpec], project: ProjectSpec) -> str | None:
    """The label of a Job of these checks: a digest of all that it is made with and that is part of
    their keys. The Project may change before the Job ends. None: no verdict of it is kept."""
    asked = [[check, *_runs_with(check, project)] for check in checks if _lasts(check, project)]
    return _digest([_FORM, asked])[:_DIGEST] if asked else None


def with_base(run: RunAnswers, question: Question, judged: Verification) -> RunAnswers:
    """The Job, told what is known of the base. One that is run again measures that anew: what was
    known may be why."""
    cache = question.cache
    if cache is None or judged.uncached or not isinstance(run, RunCheck):
        return run
    called = names.on_base(run.check.name) if run.is_second else run.check.name
    if not _keeps_base(run, question) or any(each.check == called for each in judged.again or ()):
        return run
    digests = [digest for digest in map(cache.digest, _used(run.check, cache)) if digest]
    known = cache.find(base_key_of(run, question, digests), KeptBase)
    if len(digests) < _IMAGES or known is None or not _is_readable(run.check, known.base):
        return run
    ours, its = digests
    return replace(run, known=KnownBase(known.base, base.digest_of_images((its, ours))))


def to_keep(
    question: Question,
    judged: Verification,
    results: Iterable[CheckResult | None],
    seen: Look,
) -> tuple[KeepVerdicts, ...]:
    """What Jobs of this round have found that counts for this tree, or its base, at any time."""
    cache = question.cache
    if cache is None or not judged.tree:
        return ()
    kept, images = _verdicts_to_keep(question, cache, judged, results, seen.existing)
    bases, more = _bases_to_keep(question, cache, seen)
    tags = {(image, digest) for image, digest in (images | more).items() if exact(image) is None}
    new = kept | bases
    if not new and all(cache.images.get(image) == digest for image, digest in tags):
        return ()
    return (KeepVerdicts(tuple(new.items()), tuple(sorted(tags))),)


def _verdicts_to_keep(
    question: Question,
    cache: GateCache,
    judged: Verification,
    results: Iterable[CheckResult | None],
    existing: Mapping[str, JobView],
) -> tuple[dict[str, Kept], dict[str, str]]:
    """By key, and the digests of the images that have said it."""
    project = question.project.spec
    shared = inspections(question.checks)
    sharing = {check.name: called for called, checks in shared.items() for check in checks}
    kept: dict[str, Kept] = {}
    images: dict[str, str] = {}
    for check, result in zip(question.checks, results, strict=True):
        if result is None or not _lasts(check, project) or not _is_kept(result):
            continue
        called = sharing.get(check.name, check.name)
        job = existing.get(called)
        if job is None or (called in shared and not _is_of(result, job)):
            continue
        of_base = existing.get(names.on_base(called))
        its = (job, of_base) if of_base is not None else (job,)
        with_ = made_with(shared.get(called, (check,)), project)
        if any(each.labels.get(labels.MADE_WITH) != with_ for each in its):
            continue
        if not all(_had_contents(check, each) for each in its):
            continue
        used = _used(check, cache)
        digests = _digests_in(its, used)
        if digests is not None:
            kept[key_of(check, question, judged, digests)] = _kept(result)
            images |= zip(used, digests, strict=True)
    return kept, images


def _bases_to_keep(
    question: Question, cache: GateCache, seen: Look
) -> tuple[dict[str, Kept], dict[str, str]]:
    """The same of what was measured of bases, or was known of them, and of use."""
    kept: dict[str, Kept] = {}
    images: dict[str, str] = {}
    for called, run in seen.runs.items():
        job = seen.existing.get(called)
        if job is None or not isinstance(run, RunCheck) or not _keeps_base(run, question):
            continue
        used = _used(run.check, cache)
        digests = _digests_in((job,), used)
        with_ = made_with((run.check,), question.project.spec)
        if digests is None or job.labels.get(labels.MADE_WITH) != with_:
            continue
        if not _had_contents(run.check, job):
            continue
        images |= zip(used, digests, strict=True)
        key = base_key_of(run, question, digests)
        if labels.KNOWN_BASE in job.labels:
            found = cache.find(key, KeptBase)
        else:
            found = _measured(run.check, job.pod or {})
        if found is not None:
            kept[key] = found
    return kept, images


def _measured(check: CheckSpec, pod: pods.Object) -> KeptBase | None:
    """What the program that compares says of the base, where it was run there, and once: what is
    run again finds what the work has left in the folders of both."""
    lister, end = pods.container(pod, LISTERS[0]), pods.terminated(pod, CHECK) or {}
    if lister is None or lister.get("restartCount") or end.get("exitCode") != 0:
        return None
    try:
        told = load(Compared, str(end.get("message") or ""))
    except (ValueError, RecursionError):
        return None
    is_told = told.name == check.name and _is_readable(check, told.base)
    return KeptBase(told.base) if is_told else None


def _is_readable(check: CheckSpec, word: str) -> bool:
    try:
        baseline.unpacked(word, measured=check.tolerance is not None)
    except ValueError:
        return False
    return True


def _keeps_base(run: RunCheck, question: Question) -> bool:
    """Whether it runs a tool on the base, whose word depends on nothing but what its key has. A
    program of ours is told of the work."""
    check = run.check
    return run.compares and check.tool is None and _lasts(check, question.project.spec)


def _known(
    question: Question, cache: GateCache, judged: Verification
) -> Iterator[tuple[str, tuple[CheckResult, KeptVerdict]]]:
    """What is known of the question, by key."""
    for check in question.checks:
        if not _lasts(check, question.project.spec):
            continue
        used = _used(check, cache)
        digests = [digest for digest in map(cache.digest, used) if digest is not None]
        if len(digests) < len(used):
            continue  # nobody knows yet what would judge
        key = key_of(check, question, judged, digests)
        kept = cache.find(key, KeptVerdict)
        result = _result(check, kept) if kept is not None else None
        if kept is not None and result is not None:
            yield key, (result, kept)


def _lasts(check: CheckSpec, project: ProjectSpec) -> bool:
    """Whether what the check says depends on nothing but what its key has."""
    if check.kind != "gate" or not check.lasts or check.skipped is not None:
        return False
    if check.reads is not None:
        return True
    network = project.network
    is_open = network.policy != "Managed" or bool(network.checks) or network.proxy is not None
    # Where nobody says where git is, its port is open to anywhere.
    may_ask = is_open or (network.git is None and not check.alone)
    return check.command is not None and not may_ask


def _used(check: CheckSpec, cache: GateCache) -> list[str]:
    """The images that judge: ours, and the command's."""
    return [cache.ours, *([check.image] if check.image is not None else [])]


def _is_kept(result: CheckResult) -> bool:
    if result.cached or result.bypass is not None:
        return False
    match result.verdict:
        case "Passed":
            return True
        case "Failed":
            return result.reason not in _NOT_OF_THE_TREE
        case "Skipped":
            return result.reason in _SKIPPED_FOR_THE_TREE
    return False


def _had_contents(check: CheckSpec, job: JobView) -> bool:
    """Whether the check found all contents of Git LFS that it is to find: what the git server has
    of them is no part of a key, and may be more the next time."""
    if not check.lfs:
        return True
    ended = pods.terminated(job.pod or {}, CHECKOUT) or {}
    try:
        return load(CheckoutResult, str(ended.get("message") or "")).lacking == 0
    except (ValueError, RecursionError):
        return False


def _is_of(result: CheckResult, job: JobView) -> bool:
    """Whether that Job has said it: with those that share it, what had a verdict is asked again."""
    ended = pods.ended_at(pods.terminated(job.pod or {}, INSPECT) or {})
    return ended is not None and result.ended_at == ended


def _images_of(jobs: Iterable[JobView]) -> dict[str, set[str]]:
    """Of which images their containers were made, by the reference that they were asked for by."""
    found: dict[str, set[str]] = {}
    for pod in (job.pod for job in jobs if job.pod is not None):
        for _, image, digest in pods.images(pod):
            if digest is not None:
                found.setdefault(image, set()).add(digest)
    return found


def _digests_in(jobs: Iterable[JobView], images: Iterable[str]) -> list[str] | None:
    """Those that these images had in their pods; None: it is not known, or there were several."""
    found = _images_of(jobs)
    digests = [found.get(image, set()) for image in images]
    return [min(of) for of in digests] if all(len(of) == 1 for of in digests) else None


def base_key_of(run: RunCheck, question: Question, digests: Iterable[str]) -> str:
    """Names what was asked of the base, and by whom. Its tool is told nothing of the work, nor of
    the step, and finds no git there."""
    of = [run.base, question.pinned_sha]
    runs_with = _runs_with(run.check, question.project.spec)
    return _digest([_FORM, "base", run.check, runs_with, of, list(digests)])[:_KEY]


def key_of(
    check: CheckSpec, question: Question, judged: Verification, digests: Iterable[str]
) -> str:
    """Names what was asked, of what, and of whom."""
    of = [judged.tree, judged.base, question.pinned_sha]
    asked = [_FORM, check, _means(check, question, judged), of, list(digests)]
    return _digest(asked)[:_KEY]


def _digest(told: Any) -> str:
    text = json.dumps(told, default=fields_of, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _means(check: CheckSpec, question: Question, judged: Verification) -> list[Any]:
    """What a check runs with besides its own settings, and what it can read besides the tree: a
    class is told of the step, and a command finds its title in the commit. Of a Plan as a whole it
    finds the commits of all its steps."""
    runs_with = _runs_with(check, question.project.spec)
    if check.reads is not None:
        return runs_with
    sha = "" if question.title else judged.sha
    return [*runs_with, question.title, question.description, sha]


def _runs_with(check: CheckSpec, project: ProjectSpec) -> list[Any]:
    """What of the Project its Job is made with, besides the check's own settings."""
    if check.reads is not None:
        return [project.gates.timeout_seconds]
    nodes = project.pods.node_selector
    return [
        project.toolchain.resources.dump(),
        project.toolchain.read_only_root_filesystem,
        project.pods.runtime_class_name,
        # Without one the key is that of verdicts which are kept already.
        *([nodes] if nodes is not None else []),
    ]


def _kept(result: CheckResult) -> KeptVerdict:
    return KeptVerdict(
        verdict=result.verdict,
        reason=result.reason,
        excerpt=within(result.excerpt, EXCERPT_BYTES),
        required=result.required,
        seconds=result.seconds,
        image=result.image,
        ended_at=result.ended_at.isoformat() if result.ended_at is not None else None,
    )


def _result(check: CheckSpec, kept: KeptVerdict) -> CheckResult | None:
    """The verdict; None: what was kept is none that anybody could have kept."""
    says_required = check.plugin is not None and check.plugin.says_required
    more = {
        "required": kept.required if says_required else check.required,
        "seconds": kept.seconds,
        "image": kept.image,
        "ended_at": kept.ended_at,
    }
    try:
        told = result_of(check, kept.verdict, kept.reason, kept.excerpt)
        result = CheckResult.model_validate(dict(told) | more)
    except ValueError:
        return None
    return result.model_copy(update={"cached": True}) if _is_kept(result) else None
