"""The probe of a Project: a Job that tries its credentials, and what follows from its end.

    changed, or it is time ──▶ at work ──▶ over ──┬──▶ nothing is wrong: no Job any more
          ▲                                       │
          └─────────────── after a while ◀────────┴──▶ something is, or it could not tell

Its pod has a container for each credential, so that none sees two. A container whose Secret is
missing waits: the kubelet starts it once the Secret is there. What a container has told counts at
once, whatever the others do. What a probe finds keeps nobody back: that is for who meets the same
himself. Who misses a Secret has one begun, which tells when that is there.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from bernstein.api.encoding import load
from bernstein.api.pod import PROBE
from bernstein.api.programs.probe import ProbeResult
from bernstein.api.project import Probe, ProbeFinding, Project, ProjectSpec
from bernstein.api.projects.accounts import DELIVER, READ, WORK, Account, accounts
from bernstein.api.reasons import Reason
from bernstein.api.waiting import Abandoned
from bernstein.core import diagnosis, labels, names, pods, runs
from bernstein.core.actions import DeleteJobs, give_up
from bernstein.core.diagnosis import Diagnosis
from bernstein.core.jobs import LOOK_AGAIN_SECONDS, NO_LATE_REQUESTS, JobView, LateRequests
from bernstein.core.pods import Object
from bernstein.core.projects import repository_job
from bernstein.core.projects.actions import ProbeDecision, RunProbe
from bernstein.core.projects.proofs import against
from bernstein.core.reasons.waits import PROBE_SECONDS, SOON_SECONDS, seconds_to_wait
from bernstein.core.sanitise import line, text

_TRIES = {READ: PROBE, WORK: f"{PROBE}-work", DELIVER: f"{PROBE}-deliver"}
"""The containers that try the accounts of the first repository. The first one is the Job's main
one."""
ATTESTATION = f"{PROBE}-attestation"
"""The container that tries the key of attestations, by its public half."""
SIGNING = f"{PROBE}-signing"
"""The container that tries the key that signs commits, by its public half."""
WAIT_SECONDS = 15
"""Until a Job that waits for a Secret is looked at again, whatever events come; and until what was
found is tried anew, because what goes well speaks against it."""
FINDINGS = frozenset(
    {
        Reason.SECRET_NOT_FOUND,
        Reason.CONFIG_MAP_NOT_FOUND,
        Reason.REPOSITORY_UNREACHABLE,
        Reason.REPOSITORY_AUTH_FAILED,
        Reason.HOST_KEY_UNTRUSTED,
        Reason.REF_NOT_FOUND,
        Reason.CREDENTIAL_REFUSED,
        Reason.ATTESTATION_KEY_INVALID,
        Reason.SIGNING_KEY_INVALID,
    }
)
"""Reasons that say something of the Project. With any other one the probe itself did not get on."""
_SKEW_SECONDS = 60
_WORDS = 300


@dataclass(frozen=True)
class ProbeSnapshot:
    """Everything that the decision about a probe looks at."""

    project: Project
    jobs: Mapping[str, JobView]
    """The Project's own Jobs, by name."""
    missed: bool = False
    """Whether something of the Project waits for a Secret that is missing."""
    late: LateRequests = NO_LATE_REQUESTS
    proofs: Mapping[str, datetime] = field(default_factory=dict)
    """When each account of the repository was last seen to get on, where that is known."""

    def with_job(self, job: JobView) -> ProbeSnapshot:
        return replace(self, jobs={**self.jobs, job.name: job})

    def with_refusal(self, message: str) -> ProbeSnapshot:
        raise AssertionError(f"a probe makes nothing but Jobs: {message}")


def tries(spec: ProjectSpec) -> dict[str, Account]:
    """The accounts, by the container that tries each."""
    return {
        f"{_TRIES[each.name]}-{each.place}" if each.place else _TRIES[each.name]: each
        for each in accounts(spec)
    }


def model_keys(spec: ProjectSpec) -> dict[str, tuple[str, str]]:
    """Name of the Secret and key of each model key, by the container that needs it to start."""
    of_agents = [agent.api_key for agent in spec.agents if agent.api_key is not None]
    found = (*of_agents, *(model.key for model in spec.models))
    keys = dict.fromkeys((each.name, each.key) for each in found)
    return {f"key-{number}": key for number, key in enumerate(keys)}


def subjects(spec: ProjectSpec) -> dict[str, str]:
    """What each container of the pod tries, as messages have it."""
    subject_of = {container: account.subject for container, account in tries(spec).items()}
    if spec.attestation is not None and spec.attestation.public_key is not None:
        subject_of[ATTESTATION] = "attestation key"
    if spec.merge.signing is not None and spec.merge.signing.public_key is not None:
        subject_of[SIGNING] = "signing key"
    for name, (secret, key) in model_keys(spec).items():
        subject_of[name] = _key_subject(secret, key)
    return subject_of


def users(spec: ProjectSpec, subject: str) -> list[str]:
    """The agents and models that need this model key; of another subject none."""
    agents = [(f"agent '{each.name}'", each.api_key) for each in spec.agents]
    models = [(f"model '{each.name}'", each.key) for each in spec.models]
    return [
        name
        for name, key in (*agents, *models)
        if key is not None and _key_subject(key.name, key.key) == subject
    ]


def _key_subject(secret: str, key: str) -> str:
    return f"model key '{key}' of '{secret}'"


def expected(project: Project) -> str | None:
    """The name of the Job that should be at work; None: none should."""
    probe = project.status.probe
    if probe is None or not probe.at_work:
        return None
    return names.probe_job(project.metadata.name, probe.number)


def decide(snapshot: ProbeSnapshot, now: datetime) -> ProbeDecision:
    """The probe's next step."""
    probe, generation = snapshot.project.status.probe, snapshot.project.metadata.generation
    if probe is not None and probe.generation == generation:
        if probe.at_work:
            return _look(snapshot, probe, now)
        left = _due_in(snapshot, probe, now)
        if left is None:
            rests = probe.model_copy(update={"until": None})
            return ProbeDecision(rests, _clear(snapshot))
        if left > 0:
            return ProbeDecision(probe, _clear(snapshot), left)
    return _begin(snapshot, probe, now)


def _due_in(snapshot: ProbeSnapshot, probe: Probe, now: datetime) -> float | None:
    """Seconds until the next one; 0: it is due; None: there is none.

    A Secret that something waits for may have gone since the last one: only a pod that waits for
    it, too, tells when it is back.
    """
    left = _soon(snapshot, probe, _seconds_left(probe, now), now)
    sound = not probe.findings and probe.silent is None
    if snapshot.missed:
        return 0.0 if sound and left is None else left
    return None if sound and not probe.too_strong else left


def _soon(snapshot: ProbeSnapshot, probe: Probe, left: float | None, now: datetime) -> float | None:
    """The seconds, or fewer where something has gone well since that speaks against a finding.

    But once for the same findings: what stays then, stays whatever goes well beside it.
    """
    if probe.tried_anew:
        return left
    proved, wait = against(probe.findings, snapshot.proofs), _seconds_to_next(probe, missed=False)
    if not left or wait is None or proved is None:
        return left
    rested, ago = wait - left, (now - proved).total_seconds()
    if not -_SKEW_SECONDS < ago < rested:
        return left  # before that, or by a time of day that has gone back
    return min(left, max(WAIT_SECONDS - rested, 0.0))


def _seconds_left(probe: Probe, now: datetime) -> float | None:
    """Until the time that its status says; 0: it is over; None: it says none.

    A time that is too far away was set before the time of day went back: it is over.
    """
    if probe.until is None:
        return None
    left = (probe.until - now).total_seconds()
    return left if 0 < left <= PROBE_SECONDS + _SKEW_SECONDS else 0.0


def _clear(snapshot: ProbeSnapshot) -> tuple[DeleteJobs, ...]:
    """Their results are kept in the status: they go, with their pods."""
    left = tuple(j for j in snapshot.jobs.values() if not j.deleting and j.refused is None)
    return (DeleteJobs(left),) if left else ()


def _begin(snapshot: ProbeSnapshot, before: Probe | None, now: datetime) -> ProbeDecision:
    """The next Job, once none of those before it is at work, or may still come."""
    generation = snapshot.project.metadata.generation
    first = number = before.number + 1 if before is not None else 0
    while (job := snapshot.jobs.get(_name(snapshot, number))) and not _is_of(job, generation):
        number += 1
    may_come = _may_come_again(snapshot, range(max(first - 1, 0), number))
    if may_come or not _is_alone(snapshot, number, now):
        return ProbeDecision(before, _clear(snapshot), LOOK_AGAIN_SECONDS)
    kept = before or Probe(generation=generation, number=number)
    if kept.generation != generation:
        kept = Probe(
            generation=generation,
            number=number,
            too_strong=kept.too_strong,
            too_strong_in=kept.too_strong_in,
        )
    begun = {
        "number": number,
        "at_work": True,
        "tried_anew": kept.tried_anew or _is_early(kept, now),
        "until": None,
        "abandoned": None,
    }
    return _look(snapshot, kept.model_copy(update=begun), now)


def _is_early(probe: Probe, now: datetime) -> bool:
    """Whether it is tried before its time, because of what goes well."""
    return bool(probe.findings and _seconds_left(probe, now))


def _is_alone(snapshot: ProbeSnapshot, number: int, now: datetime) -> bool:
    """Whether no other Job of the Project does anything any more."""
    others = (job for name, job in snapshot.jobs.items() if name != _name(snapshot, number))
    return all(runs.is_over(job, now) for job in others)


def _may_come_again(snapshot: ProbeSnapshot, numbers: range) -> bool:
    """Whether a request that had no answer makes one of these Jobs once its name is free, be it
    again: beside the next one.

    Of earlier numbers it was asked before these began. What a process asked for that led before is
    not waited for, as every Project would have to: it is ended when it is seen.
    """
    return any(_name(snapshot, number) in snapshot.late.names for number in numbers)


def _name(snapshot: ProbeSnapshot, number: int) -> str:
    return names.probe_job(snapshot.project.metadata.name, number)


def _is_of(job: JobView, generation: int) -> bool:
    """Whether it tries what this generation of the Project says; a crash may have left others."""
    return job.refused is not None or job.labels.get(labels.ASKED) == str(generation)


def _look(snapshot: ProbeSnapshot, probe: Probe, now: datetime) -> ProbeDecision:
    """One look at the Job at work."""
    name = _name(snapshot, probe.number)
    job = snapshot.jobs.get(name)
    others = _end_others(snapshot, name)
    if job is None and probe.abandoned is None:
        run = (RunProbe(name, str(probe.generation)),)
        alone = _is_alone(snapshot, probe.number, now)
        return ProbeDecision(probe, run if alone else others, LOOK_AGAIN_SECONDS)
    if job is not None and not _is_of(job, probe.generation):
        return _begin(snapshot, probe, now)
    if job is not None and repository_job.may_skip(snapshot.jobs, job):
        return _look(snapshot, probe.model_copy(update={"number": probe.number + 1}), now)
    heard = _heard(probe, snapshot.project.spec, job)
    if job is None or runs.is_over(job, now):
        return _over(snapshot, heard, job, now)
    why = heard.probe.abandoned or _to_abandon(job, now)
    told = heard.probe.model_copy(update={"abandoned": why})
    if why is not None:
        return ProbeDecision(told, (*others, *give_up((job,))), LOOK_AGAIN_SECONDS)
    return ProbeDecision(told, others, WAIT_SECONDS if told.findings else LOOK_AGAIN_SECONDS)


def _end_others(snapshot: ProbeSnapshot, name: str) -> tuple[DeleteJobs, ...]:
    """What ends Jobs of the Project that came late, by a request that nobody waited for."""
    return give_up(other for other in snapshot.jobs.values() if other.name != name)


def _to_abandon(job: JobView, now: datetime) -> Abandoned | None:
    """Why it is given up. One that waits for a Secret is not: it shows when that is there."""
    if runs.state(job, now) is runs.State.ABANDONED:
        return None
    problem = diagnosis.to_abandon(job, now)
    if problem is not None and problem.reason == Reason.SECRET_NOT_FOUND:
        problem = None
    if problem is None and runs.is_overdue(job, now):
        problem = Diagnosis(Reason.DISRUPTED, "its node did not end it in time")
    if problem is None:
        return None
    return Abandoned(reason=problem.reason, message=line(problem.message, _WORDS))


@dataclass(frozen=True)
class _Heard:
    probe: Probe
    """With what was found so far."""
    silent: tuple[str, ...]
    """Containers that have told nothing yet."""
    problem: Diagnosis | None = None
    """Why one of them never will."""


def _heard(probe: Probe, spec: ProjectSpec, job: JobView | None) -> _Heard:
    """What the containers tell, and of those that do not what was found before."""
    by_subject = {finding.subject: finding for finding in probe.findings}
    silent, problem = [], None
    trying, strong = tries(spec), _strong(probe, spec)
    pod: Object = job.pod if job is not None and job.pod is not None else {}
    for container, subject in subjects(spec).items():
        account = trying.get(container)
        told = _told(pod, container, speaks=account is not None)
        if isinstance(told, ProbeResult):
            by_subject.pop(subject, None)
            if account is not None and account.name == WORK:
                (strong.add if told.too_strong else strong.discard)(account.repository.name)
        elif told is not None and told.reason in FINDINGS:
            by_subject[subject] = _finding(subject, told)
        else:
            silent.append(container)
            problem = problem or told
    ordered = tuple(by_subject[s] for s in subjects(spec).values() if s in by_subject)
    same = _what(ordered) == _what(probe.findings)
    update = {"findings": ordered, **_strength(strong, spec)}
    known = probe.model_copy(update=update | {"tried_anew": probe.tried_anew and same})
    return _Heard(known, tuple(silent), problem)


def _strong(probe: Probe, spec: ProjectSpec) -> set[str]:
    """Names of the repositories whose work account was seen to be too strong."""
    there = {each.name for each in spec.repositories}
    one = spec.repositories[:1] if probe.too_strong and not probe.too_strong_in else ()
    return there & {*probe.too_strong_in, *(each.name for each in one)}


def _strength(strong: Collection[str], spec: ProjectSpec) -> dict[str, object]:
    several = len(spec.repositories) > 1
    return {
        "too_strong": bool(strong),
        "too_strong_in": tuple(sorted(strong)) if several else (),
    }


def _what(findings: Iterable[ProbeFinding]) -> set[tuple[str, str]]:
    return {(finding.subject, finding.reason) for finding in findings}


def _finding(subject: str, why: Diagnosis) -> ProbeFinding:
    return ProbeFinding(subject=subject, reason=why.reason, message=text(why.message, _WORDS))


def _told(pod: Object, container: str, *, speaks: bool) -> ProbeResult | Diagnosis | None:
    """What one container says; None: nothing yet."""
    ended = pods.terminated(pod, container)
    if ended is None:
        return diagnosis.missing(pod, container)
    failure = diagnosis.failure_of(pod, container)
    if failure is not None or not speaks:
        return failure or ProbeResult()
    try:
        return load(ProbeResult, ended.get("message") or "")
    except ValueError as error:
        return Diagnosis(Reason.INFRASTRUCTURE_ERROR, f"probe left no result: {error}")


def _over(
    snapshot: ProbeSnapshot, heard: _Heard, job: JobView | None, now: datetime
) -> ProbeDecision:
    """The Job does nothing any more: what is known now, and when it is tried again."""
    probe, silent = heard.probe, None
    missing = {f.subject for f in probe.findings if f.reason == Reason.SECRET_NOT_FOUND}
    waits = {c for c, s in subjects(snapshot.project.spec).items() if s in missing}
    if not waits.issuperset(heard.silent):
        why = _why_silent(probe, heard, job, now)
        silent = _finding(PROBE, why)
    wrong = bool(probe.findings) or silent is not None
    ended = probe.model_copy(
        update={
            "at_work": False,
            "abandoned": None,
            "silent": silent,
            "settled": probe.settled or silent is None,
            "failures": probe.failures + 1 if wrong else 0,
        }
    )
    left = _seconds_to_next(ended, missed=snapshot.missed)
    until = now + timedelta(seconds=left) if left is not None else None
    return ProbeDecision(ended.model_copy(update={"until": until}), (), left)


def _why_silent(probe: Probe, heard: _Heard, job: JobView | None, now: datetime) -> Diagnosis:
    if probe.abandoned is not None:
        return Diagnosis(probe.abandoned.reason, probe.abandoned.message)
    without = diagnosis.without_end(job, now) if job is not None else None
    return without or heard.problem or Diagnosis(Reason.DISRUPTED, "its pod did not finish")


def _seconds_to_next(probe: Probe, *, missed: bool) -> float | None:
    waits = [_seconds(finding.reason, probe.failures) for finding in probe.findings]
    if probe.silent is not None:
        waits.append(seconds_to_wait(Reason.INFRASTRUCTURE_ERROR, probe.failures))
    if probe.too_strong or missed:
        waits.append(PROBE_SECONDS)  # until then whoever misses a Secret has tried it himself
    return min(waits, default=None)


def _seconds(reason: str, failures: int) -> int:
    """A missing Secret is waited for by a pod: the next one comes soon after it."""
    if reason == Reason.SECRET_NOT_FOUND:
        return SOON_SECONDS
    return min(seconds_to_wait(reason, failures), PROBE_SECONDS)
