"""Whether a Project is sound, as its conditions say it, and whether it may be used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Literal, NamedTuple

from bernstein.api.meta import Condition, ConditionType
from bernstein.api.programs.account import keys
from bernstein.api.project import Probe, ProbeFinding, Project, ProjectSpec, ProjectStatus
from bernstein.api.projects import workplace
from bernstein.api.projects.cache import CacheState
from bernstein.api.projects.closing import RequestClosing
from bernstein.api.projects.refs import RefPruning
from bernstein.api.projects.repository import Repository
from bernstein.api.reasons import UNTRUSTED, Reason
from bernstein.core import conditions
from bernstein.core.conditions import Truth
from bernstein.core.diagnosis import Diagnosis
from bernstein.core.projects import caching
from bernstein.core.projects.probing import FINDINGS, users
from bernstein.core.projects.repositories import digest
from bernstein.core.projects.repository_job import OUT_OF_REACH
from bernstein.core.remedies import remedy_of, with_remedy
from bernstein.core.sanitise import count, line, quoted, some, without_quotes

_ONE = "this account"
_SUBJECT = 200
"""Characters that name whom one of them concerns."""
_TOLD = 3
"""What the condition tells at most, and of how many subjects each; the others stand in
`status.probe`."""
PROBING = "Probing"
"""Why `Ready` is Unknown at first."""
_LEFT = 800
"""Characters that name pull requests which stay open."""
_PROBES = "a Job tries its credentials; Plans may use it meanwhile"


def not_ready(project: Project) -> str | None:
    """Why the Project cannot be used, in plain words; None: it can.

    What a probe has found keeps nobody back: it may be over by now, and concerns one credential of
    several. Who needs that meets the same, and is held for it.
    """
    ready = conditions.find(project.status.conditions, ConditionType.READY)
    if ready is None or ready.status != "False" or ready.reason in FINDINGS:
        return None
    return f"Project '{project.metadata.name}' is not ready: {ready.message}"


class Told(NamedTuple):
    """What Jobs of its repositories are known to have told."""

    refs: tuple[RefPruning, ...] = ()
    caches: tuple[CacheState, ...] = ()
    closing: tuple[RequestClosing, ...] = ()


_NOTHING = Told()


def status(
    project: Project,
    running: int,
    problem: Diagnosis | None,
    probe: Probe | None,
    now: datetime,
    told: Told = _NOTHING,
) -> ProjectStatus:
    """The Project's status; with a problem nothing may be started for it."""
    generation = project.metadata.generation
    truth, reason, text = _readiness(project, problem, probe)
    updated = conditions.put(
        project.status.conditions,
        ConditionType.READY,
        truth,
        reason,
        text,
        generation=generation,
        now=now,
    )
    updated = _refs(project, _strength(project, updated, probe, now), told.refs, now)
    updated = _closed(project, updated, told.closing, now)
    return project.status.model_copy(
        update={
            "observed_generation": generation,
            "conditions": _filled(project, updated, told.caches, now),
            "probe": probe,
            "running": running,
            "refs": told.refs,
            "caches": told.caches,
            "closing": told.closing,
        }
    )


def _readiness(
    project: Project, problem: Diagnosis | None, probe: Probe | None
) -> tuple[Truth, str, str]:
    if problem is not None:
        return "False", problem.reason, with_remedy(problem.message, problem.reason)
    if probe is None or probe.generation != project.metadata.generation:
        return "Unknown", PROBING, _PROBES
    if probe.findings:
        return "False", probe.findings[0].reason, _findings(project, probe.findings)
    if not probe.settled and probe.silent is None:
        return "Unknown", PROBING, _PROBES
    if not probe.settled and (why := probe.silent) is not None:
        cause = without_quotes(why.message, "status.probe")
        text = f"its credentials could not be tried: {cause}"
        return "Unknown", why.reason, with_remedy(text, why.reason)
    return "True", "Accepted", _usable(project, probe)


def _usable(project: Project, probe: Probe) -> str:
    """That it may be used, and whether there is something to be known before."""
    text = "Plans of this namespace may use it"
    if _why_too_strong(project, probe) is not None:
        kind, account = ConditionType.WORK_CREDENTIAL_TOO_STRONG, "work"
    elif _shared(project, "read") is not None:
        kind, account = ConditionType.READ_CREDENTIAL_TOO_STRONG, "read"
    else:
        return text
    return f"{text}; its {account} account is too strong, see the condition {kind}"


def _findings(project: Project, findings: Sequence[ProbeFinding]) -> str:
    """What was found; what several have met in the same words, such as a wrong host, once."""
    met: dict[_Met, list[str]] = {}
    for each in findings:
        met.setdefault(_met(each), []).append(each.subject)
    shown = dict(list(met.items())[:_TOLD])
    told = [f"{_named(project.spec, whose)}: {what.text}" for what, whose in shown.items()]
    if any(quoted(each.message) for each in findings if _met(each) in shown):
        told[-1] = f"{told[-1]}; status.probe has its words"
    more = len(findings) - sum(map(len, shown.values()))
    if more:
        told.append(f"and {more} more")
    return f"{'; '.join(told)}. Remedy: {' '.join(_remedies(project, shown))}"


class _Met(NamedTuple):
    reason: str
    text: str


def _met(finding: ProbeFinding) -> _Met:
    """Without the account's name, which stands before it: others may meet the same."""
    words = without_quotes(finding.message).replace(f"the account '{finding.subject}'", _ONE)
    return _Met(finding.reason, words.rstrip("."))


def _named(spec: ProjectSpec, subjects: Sequence[str]) -> str:
    """The first of these subjects, whose keys they are, and how many more there are."""
    names = []
    for subject in subjects[:_TOLD]:
        whose = users(spec, subject)
        told = f"{subject} ({some(whose, len(whose))})" if whose else subject
        names.append(line(told, _SUBJECT))
    if len(subjects) > _TOLD:
        return f"{', '.join(names)} and {len(subjects) - _TOLD} more"
    *before, last = names
    return f"{', '.join(before)} and {last}" if before else last


def _remedies(project: Project, shown: Mapping[_Met, Sequence[str]]) -> list[str]:
    """What helps, once for each reason, or for each known cause of one."""
    by_kind: dict[tuple[str, bool], list[_Met]] = {}
    for what in shown:
        by_kind.setdefault((what.reason, UNTRUSTED in what.text), []).append(what)
    remedies = []
    for (reason, _), those in by_kind.items():
        subjects = [subject for what in those for subject in shown[what]]
        text = "; ".join(what.text for what in those)
        remedies.append(remedy_of(reason, text, project, subjects))
    return remedies


def _strength(
    project: Project, before: tuple[Condition, ...], probe: Probe | None, now: datetime
) -> tuple[Condition, ...]:
    """The conditions with the warnings of accounts that can do what `deliver` does."""
    after = _warned(
        project,
        before,
        ConditionType.WORK_CREDENTIAL_TOO_STRONG,
        _why_too_strong(project, probe),
        "the pusher beside every agent could deliver. "
        "Remedy: Give work an account that may push to refs/bernstein/ only.",
        now,
    )
    return _warned(
        project,
        after,
        ConditionType.READ_CREDENTIAL_TOO_STRONG,
        _shared(project, "read"),
        "every pod that checks something out holds what delivers. "
        "Remedy: Give read an account that may only fetch.",
        now,
    )


def _warned(
    project: Project,
    before: tuple[Condition, ...],
    kind: ConditionType,
    why: tuple[str, str] | None,
    follows: str,
    now: datetime,
) -> tuple[Condition, ...]:
    """The conditions with this one, while there is a reason for it."""
    if why is None:
        return conditions.drop(before, kind)
    reason, what = why
    text, generation = f"{what}: {follows}", project.metadata.generation
    return conditions.put(before, kind, "True", reason, text, generation=generation, now=now)


def _shared(project: Project, account: Literal["read", "work"]) -> tuple[str, str] | None:
    """(reason, words) of an account whose pods mount what delivers in some repository, or speaks to
    its forge; None: it is another one. Other keys of the same Secret they do not mount."""
    rows = project.spec.repositories
    for each in rows:
        secret = {"read": each.credentials.read, "work": each.credentials.work}[account].secret_name
        # First what it says of itself.
        for other in (each, *(row for row in rows if row is not each)):
            where = _both(each, other) if len(rows) > 1 else ("", "")
            if other.credentials.deliver.secret_name == secret:
                whose = f"{account}{where[0]} and deliver{where[1]}"
                return "SameSecret", f"{whose} name the same Secret"
            token = other.forge.token if other.forge is not None else None
            if token is not None and token.name == secret and token.key in keys(each.url):
                same = f"the forge's token{where[1]} are the same key of a Secret"
                return "SameSecret", f"{account}{where[0]} and {same}"
    return None


def _both(one: Repository, other: Repository) -> tuple[str, str]:
    """Where one account is, and where the other."""
    where = f" in repository '{other.name}'"
    return ("", where) if one is other else (f" in repository '{one.name}'", where)


def _why_too_strong(project: Project, probe: Probe | None) -> tuple[str, str] | None:
    """(reason, words) of a work account that can do what `deliver` does; None: it cannot."""
    shared = _shared(project, "work")
    if shared is not None or probe is None or not probe.too_strong:
        return shared
    rows = project.spec.repositories
    several = len(rows) > 1
    seen = (each for each in rows if not probe.too_strong_in or each.name in probe.too_strong_in)
    found = next(seen, None)
    if found is None:
        return None
    where = f" of repository '{found.name}'" if several else ""
    same = [each for each in rows if digest(each) == digest(found)]
    # A pull request is of a branch there.
    proposed = " or below 'bernstein/'" if any(each.forge for each in same) else ""
    others = {each.branch: each.name for each in reversed(same) if each.branch != found.branch}
    more = "".join(f", or to '{branch}', as '{name}' has it" for branch, name in others.items())
    branches = f"'{found.branch}'{proposed}{where}{more}"
    return "MayPush", f"the git server would let the work account push to {branches}"


_NO_ROOM = (
    "Fetch what you want to keep; bernstein doctor names them once nothing else does. "
    "A shorter retention.refsSeconds makes room sooner."
)


def _refs(
    project: Project, before: tuple[Condition, ...], refs: Sequence[RefPruning], now: datetime
) -> tuple[Condition, ...]:
    """The conditions with the warning of refs that nobody needs and that are not deleted."""
    kind, why = ConditionType.REFS_NOT_DELETED, _why_refs_stay(project, refs)
    if why is None:
        return conditions.drop(before, kind)
    reason, text = why
    return conditions.put(
        before, kind, "True", reason, text, generation=project.metadata.generation, now=now
    )


def _why_refs_stay(project: Project, refs: Sequence[RefPruning]) -> tuple[str, str] | None:
    """(reason, words); None: they go, or are few. What the git server says comes first."""
    several = len(project.spec.repositories) > 1
    for each in refs:
        if each.reason is not None:
            where = f" in repository '{each.repository}'" if several else ""
            cause = without_quotes(each.message or "", "status.refs").rstrip(".")
            text = f"refs that nobody needs any more are not deleted{where}: {cause}"
            remedy = remedy_of(each.reason, cause, _in(project, each.repository))
            return each.reason, f"{text}. Remedy: {remedy}" if remedy else text
    unwritten, lost = sum(r.unwritten for r in refs), sum(r.lost for r in refs)
    if not unwritten and not lost:
        return None
    told = [
        f"{count(number, 'ref')} of what was deleted {how}"
        for number, how in (
            (unwritten, "may stay if the operator is restarted, as status.refs has no room yet"),
            (lost, "will stay, as there was no room for more"),
        )
        if number
    ]
    return "NoRoom", f"{'; '.join(told)}. Remedy: {_NO_ROOM}"


def _in(project: Project, repository: str) -> Project:
    """As it is seen by who works in the repository of this name; whole, where it has none."""
    there = any(each.name == repository for each in project.spec.repositories)
    return workplace.at(project, repository) if there else project


def _closed(
    project: Project,
    before: tuple[Condition, ...],
    closing: Sequence[RequestClosing],
    now: datetime,
) -> tuple[Condition, ...]:
    """The conditions with the warning of pull requests of what was deleted that are open."""
    kind = ConditionType.PULL_REQUESTS_NOT_CLOSED
    why = next((each for each in closing if each.reason is not None), None)
    if why is None:
        return conditions.drop(before, kind)
    generation = project.metadata.generation
    reason, text = why.reason or "", _why_open(project, why)
    return conditions.put(before, kind, "True", reason, text, generation=generation, now=now)


def _why_open(project: Project, closing: RequestClosing) -> str:
    """Which pull requests are not closed, and what helps. What nobody closes any more people may
    have closed since: nothing looks."""
    cause = without_quotes(closing.message or "", "status.closing").rstrip(".")
    rows = project.spec.repositories
    moved = closing.reason == Reason.PULL_REQUEST_MISSING  # then they are not in this one
    where = f" in repository '{closing.repository}'" if len(rows) > 1 and not moved else ""
    text = f"pull requests of what was deleted are not closed{where}: {cause}"
    those = line(some(closing.last_left, closing.left), _LEFT)
    if closing.reason in OUT_OF_REACH:
        return f"{text}. Remedy: Close on the forge what of these is open still: {those}."
    told = with_remedy(text, closing.reason or "", _in(project, closing.repository))
    if closing.left:
        told = f"{told} Given up before, so close it on the forge if it is open still: {those}."
    return told


def _filled(
    project: Project, before: tuple[Condition, ...], caches: Sequence[CacheState], now: datetime
) -> tuple[Condition, ...]:
    """The conditions with the warning of a cache that cannot be filled, or not be mounted."""
    kind = ConditionType.CACHE_NOT_FILLED
    why = next((each for each in caches if each.reason is not None), None)
    if why is None:
        return conditions.drop(before, kind)
    several = len(project.spec.repositories) > 1
    where = f" of repository '{why.repository}'" if several else ""
    text = f"the cache{where} is not filled: {caching.words(why)}"
    generation = project.metadata.generation
    return conditions.put(
        before, kind, "True", why.reason or "", text, generation=generation, now=now
    )
