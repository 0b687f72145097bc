"""The probe of a Project, step by step: when a Job is made, what its end means, when the next."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import pytest

from bernstein.api.programs.probe import ProbeResult
from bernstein.api.project import Probe, Project
from bernstein.core import labels
from bernstein.core.actions import DeleteJobs
from bernstein.core.jobs import NO_LATE_REQUESTS, JobView, LateRequests, refusal
from bernstein.core.projects.actions import ProbeDecision, RunProbe
from bernstein.core.projects.probing import ProbeSnapshot, decide
from tests.unit.core import objects
from tests.unit.core.objects import NOW, at, ended, failed, over, pod, running, waiting

GOOD = ended("probe", said=ProbeResult())
WORK = ended("probe-work", said=ProbeResult())
DELIVER = ended("probe-deliver", said=ProbeResult())
MISSING = waiting("probe-work", "CreateContainerConfigError", 'secret "git-work" not found')


def project(probe: Probe | None = None, **more: Any) -> Project:
    found = objects.project(**more)
    return found.model_copy(update={"status": found.status.model_copy(update={"probe": probe})})


def job(number: int = 0, pod: Any = None, *, of: int = 1, **more: Any) -> JobView:
    said = {labels.JOB: "probe", labels.ASKED: str(of)}
    name = f"default--probe-{number}"
    return JobView(name, f"uid-{number}", at(-5), pod=pod, labels=said, **more)


def step(
    probe: Probe | None,
    *jobs: JobView,
    now: datetime = NOW,
    missed: bool = False,
    late: LateRequests = NO_LATE_REQUESTS,
    proofs: Mapping[str, datetime] | None = None,
    **more: Any,
) -> tuple[Probe, ProbeDecision]:
    by_name = {j.name: j for j in jobs}
    snapshot = ProbeSnapshot(project(probe, **more), by_name, missed, late, proofs or {})
    decision = decide(snapshot, now)
    assert decision.status is not None
    return decision.status, decision


AT_WORK = Probe(generation=1, number=0, at_work=True)


def after(*containers: Any, before: Probe = AT_WORK, **more: Any) -> Probe:
    """What is known once its pod has ended so."""
    found, _ = step(before, job(before.number, over(*containers, **more)))
    return found


def test_a_new_project_is_tried_at_once() -> None:
    probe, decision = step(None)

    assert decision.actions == (RunProbe("default--probe-0", "1"),)
    assert (probe.at_work, probe.settled) == (True, False)


def test_a_project_that_is_sound_is_not_tried_again_and_keeps_no_job() -> None:
    probe = after(GOOD, WORK, DELIVER)
    assert (probe.at_work, probe.settled, probe.findings, probe.until) == (False, True, (), None)

    _, cleared = step(probe, job(0, over(GOOD, WORK, DELIVER)))
    assert [j.name for a in cleared.actions if isinstance(a, DeleteJobs) for j in a.jobs] == [
        "default--probe-0"
    ]

    same, rest = step(probe, now=at(1e6))
    assert (same, rest.actions, rest.requeue_after) == (probe, (), None)


def test_a_project_that_was_changed_is_tried_again() -> None:
    probe, decision = step(after(GOOD, WORK, DELIVER), generation=2)

    assert decision.actions == (RunProbe("default--probe-1", "2"),)
    assert (probe.generation, probe.settled) == (2, False)


def test_a_project_that_is_changed_while_it_is_tried_ends_that_job_first() -> None:
    old = job(0, pod(running("probe")))

    waits, ending = step(AT_WORK, old, generation=2)
    assert ending.actions == (DeleteJobs((old,)),)
    assert waits == AT_WORK

    gone = job(0, pod(running("probe"), phase="Failed"), deleting=True)
    _, begun = step(waits, gone, generation=2)
    assert begun.actions == (RunProbe("default--probe-1", "2"),)


def test_the_next_one_waits_while_a_request_for_the_one_before_may_still_be_applied() -> None:
    probe, old = after(GOOD, WORK, DELIVER), job(0, over(GOOD, WORK, DELIVER))
    late = LateRequests(frozenset({"default--probe-0"}))

    for jobs in ((old,), ()):
        waits, decision = step(probe, *jobs, generation=2, late=late)
        assert (waits, decision.requeue_after) == (probe, 5)
        assert not any(isinstance(action, RunProbe) for action in decision.actions)

    _, begun = step(probe, generation=2)
    assert begun.actions == (RunProbe("default--probe-1", "2"),)


def test_one_that_an_unanswered_request_made_for_an_older_generation_is_waited_for_too() -> None:
    late = LateRequests(frozenset({"default--probe-1"}))
    stale = job(1, over(GOOD, WORK, DELIVER), of=2)

    _, decision = step(after(GOOD, WORK, DELIVER), stale, generation=3, late=late)
    assert not any(isinstance(action, RunProbe) for action in decision.actions)

    _, again = step(after(GOOD, WORK, DELIVER), generation=3, late=late)
    assert again.actions == (RunProbe("default--probe-1", "3"),), "whichever comes, it has the name"


def test_unanswered_requests_for_other_jobs_keep_no_project_from_being_tried() -> None:
    late = LateRequests(frozenset({"default--probe-7", "other--probe-0"}), unknown=True)

    _, decision = step(after(GOOD, WORK, DELIVER), generation=2, late=late)

    assert decision.actions == (RunProbe("default--probe-1", "2"),)


def test_a_job_that_comes_late_beside_the_one_at_work_is_ended() -> None:
    probe = AT_WORK.model_copy(update={"number": 1})
    mine, late = job(1, pod(running("probe"))), job(0)

    _, decision = step(probe, mine, late)
    assert decision.actions == (DeleteJobs((late,)),)

    _, lacking = step(probe, late)
    assert lacking.actions == (DeleteJobs((late,)),), "and its own is made once that has ended"
    going = job(0, pod(running("probe")), deleting=True)
    assert step(probe, going)[1].actions == ()


def test_a_job_that_a_crash_left_of_an_older_generation_is_not_believed() -> None:
    stale = job(0, over(GOOD, WORK, DELIVER), of=1)

    probe, decision = step(None, stale, generation=2)

    assert decision.actions == (RunProbe("default--probe-1", "2"),)
    assert (probe.number, probe.settled) == (1, False)


def test_a_job_that_a_crash_left_of_the_same_generation_is_taken() -> None:
    probe, decision = step(None, job(0, pod(running("probe"))))

    assert decision.actions == ()
    assert (probe.number, probe.at_work) == (0, True)


def test_a_missing_secret_shows_while_the_pod_waits_for_it_and_is_gone_with_it() -> None:
    waits = job(0, pod(GOOD, MISSING, DELIVER))
    probe, decision = step(AT_WORK, waits)
    assert [(f.subject, f.reason) for f in probe.findings] == [("work", "SecretNotFound")]
    assert 'secret "git-work" not found' in probe.findings[0].message
    assert (probe.at_work, decision.actions) == (True, ())

    again, _ = step(probe, waits, now=at(200))
    assert again == probe, "nothing is written while it waits"

    mended = after(GOOD, WORK, DELIVER, before=probe)
    assert (mended.findings, mended.until, mended.failures) == ((), None, 0)


def test_who_waits_for_a_secret_to_the_end_is_followed_by_the_next_soon() -> None:
    probe, _ = step(AT_WORK, job(0, pod(GOOD, MISSING, DELIVER)))

    ended_ = after(GOOD, MISSING, DELIVER, before=probe, reason="DeadlineExceeded")

    assert [f.reason for f in ended_.findings] == ["SecretNotFound"]
    assert (ended_.silent, ended_.until) == (None, at(8))
    _, waits = step(ended_)
    assert (waits.actions, waits.requeue_after) == ((), 8)
    _, next_ = step(ended_, now=at(8))
    assert next_.actions == (RunProbe("default--probe-1", "1"),)


@pytest.mark.parametrize(
    ("reason", "seconds"),
    [
        ("RepositoryUnreachable", 300),
        ("RepositoryAuthFailed", 300),
        ("CredentialRefused", 300),
        ("RefNotFound", 300),
        ("ConfigMapNotFound", 8),
    ],
)
def test_a_probe_tries_what_is_wrong_again_every_5_min_or_soon(reason: str, seconds: int) -> None:
    probe = after(GOOD, failed("probe-work", reason, "no"), DELIVER)

    assert [(f.subject, f.reason, f.message) for f in probe.findings] == [("work", reason, "no")]
    assert (probe.until, probe.failures, probe.settled) == (at(seconds), 1, True)


def test_each_credential_is_told_of_by_itself_in_the_order_of_the_project() -> None:
    probe = after(
        failed("probe", "RepositoryAuthFailed"), failed("probe-work", "CredentialRefused"), DELIVER
    )
    assert [f.subject for f in probe.findings] == ["read", "work"]

    again = probe.model_copy(update={"at_work": True})
    half = after(GOOD, failed("probe-work", "CredentialRefused"), DELIVER, before=again)
    assert [f.subject for f in half.findings] == ["work"]
    assert half.failures == 2


def test_a_model_key_is_there_or_its_secret_is_named() -> None:
    agent = {"name": "a", "adapter": "codex", "image": "a:1", "apiKey": {"name": "llm", "key": "k"}}
    lacks = waiting("key-0", "CreateContainerConfigError", "couldn't find key k in Secret team/llm")

    probe, _ = step(AT_WORK, job(0, pod(GOOD, WORK, DELIVER, lacks)), agents=[agent])
    assert [(f.subject, f.reason) for f in probe.findings] == [
        ("model key 'k' of 'llm'", "SecretNotFound")
    ]

    found, _ = step(probe, job(0, over(GOOD, WORK, DELIVER, ended("key-0"))), agents=[agent])
    assert (found.findings, found.settled) == ((), True)


@pytest.mark.parametrize("what", ["attestation", "signing"])
def test_a_key_that_signs_is_tried_where_the_project_names_its_public_half(what: str) -> None:
    key, word = {"key": {"name": "signs", "key": "id"}}, f"{what.capitalize()}KeyInvalid"
    pod_ = over(GOOD, WORK, DELIVER, failed(f"probe-{what}", word, "it holds a private key"))

    def found(signs: Any) -> list[tuple[str, str]]:
        merge = {"merge": {"strategy": "direct", "signing": signs}}
        spec = merge if what == "signing" else {what: signs}
        return [(f.subject, f.reason) for f in step(AT_WORK, job(0, pod_), **spec)[0].findings]

    assert found({**key, "publicKey": "key.pub"}) == [(f"{what} key", word)]
    assert found(key) == []


def test_a_work_account_that_is_too_strong_is_looked_at_every_5_min() -> None:
    strong = ended("probe-work", said=ProbeResult(too_strong=True))

    probe = after(GOOD, strong, DELIVER)
    assert (probe.too_strong, probe.findings, probe.until) == (True, (), at(300))

    weaker = after(GOOD, WORK, DELIVER, before=probe.model_copy(update={"at_work": True}))
    assert (weaker.too_strong, weaker.until) == (False, None)


@pytest.mark.parametrize(
    ("end", "reason"),
    [
        (over(disrupted=True), "Disrupted"),
        (over(ended("probe", 1, said="Traceback"), WORK, DELIVER), "InfrastructureError"),
        (over(ended("probe", said="no JSON"), WORK, DELIVER), "InfrastructureError"),
    ],
)
def test_a_probe_that_did_not_get_on_says_nothing_of_the_project(end: Any, reason: str) -> None:
    probe, _ = step(AT_WORK, job(0, end))

    assert probe.silent is not None
    assert (probe.silent.reason, probe.findings, probe.settled) == (reason, (), False)
    assert probe.until == at(30)


def test_what_was_found_stays_while_the_next_one_does_not_get_on() -> None:
    wrong = after(GOOD, failed("probe-work", "CredentialRefused"), DELIVER)

    probe = after(before=wrong.model_copy(update={"at_work": True}), disrupted=True)

    assert [f.reason for f in probe.findings] == ["CredentialRefused"]


def test_a_job_that_the_api_server_refuses_is_tried_again_later_and_later() -> None:
    probe, waits = None, []
    for number in range(5):
        probe = (probe or AT_WORK).model_copy(update={"at_work": True, "number": number})
        probe, decision = step(probe, refusal(f"default--probe-{number}", "exceeded quota", NOW))
        assert probe.silent is not None
        assert probe.silent.reason == "PodRejected"
        waits.append(decision.requeue_after)

    assert waits == [30, 60, 120, 240, 300]


def test_a_pod_that_gets_nowhere_is_given_up_and_judged_once_it_has_ended() -> None:
    stuck = job(0, pod(waiting("probe", "ImagePullBackOff", "not found")))
    probe, decision = step(AT_WORK, stuck)
    assert decision.actions == (DeleteJobs((stuck,)),)
    assert probe.abandoned is not None
    assert probe.at_work

    gone, _ = step(probe)
    assert gone.silent is not None
    assert (gone.silent.reason, gone.at_work) == ("ImagePullFailed", False)


def test_a_job_that_somebody_deleted_is_made_again() -> None:
    _, decision = step(AT_WORK)

    assert decision.actions == (RunProbe("default--probe-0", "1"),)


def test_a_time_that_is_too_far_away_was_set_before_the_clock_went_back() -> None:
    wrong = after(GOOD, failed("probe-work", "CredentialRefused"), DELIVER)

    _, decision = step(wrong, now=at(-1e5))

    assert decision.actions == (RunProbe("default--probe-1", "1"),)


def test_no_words_of_a_pod_are_too_long_for_the_status() -> None:
    probe = after(failed("probe", "RepositoryUnreachable", "x" * 5000), WORK, DELIVER)

    assert len(probe.findings[0].message) <= 300


STRONG = ended("probe-work", said=ProbeResult(too_strong=True))


@pytest.mark.parametrize(("work", "seconds"), [(WORK, 0), (STRONG, 300)])
def test_a_pod_waits_for_a_secret_that_is_missed_although_it_was_there(
    work: Any, seconds: float
) -> None:
    """Where the next one comes within minutes anyway, who misses it tries for himself till then."""
    probe, decision = step(after(GOOD, work, DELIVER), missed=True, now=at(seconds))

    assert decision.actions == (RunProbe("default--probe-1", "1"),)
    assert probe.at_work
    its = job(1, pod(GOOD, MISSING, DELIVER))
    waits, _ = step(probe, its, missed=True, now=at(seconds))
    assert [f.reason for f in waits.findings] == ["SecretNotFound"]


def test_who_misses_a_secret_that_is_there_makes_a_probe_every_five_minutes_at_most() -> None:
    found, _ = step(AT_WORK, job(0, over(GOOD, WORK, DELIVER)), missed=True)
    assert (found.findings, found.until) == ((), at(300))

    same, rest = step(found, now=at(299), missed=True)
    assert (same, rest.actions, rest.requeue_after) == (found, (), 1)
    _, again = step(found, now=at(300), missed=True)
    assert again.actions == (RunProbe("default--probe-1", "1"),)


def test_once_nobody_misses_the_secret_nothing_is_tried_any_more() -> None:
    found, _ = step(AT_WORK, job(0, over(GOOD, WORK, DELIVER)), missed=True)

    rests, decision = step(found, now=at(10))

    assert (rests.until, decision.actions, decision.requeue_after) == (None, (), None)


# --- what goes well meanwhile ---------------------------------------------------------------------

LACKS_BRANCH = failed("probe", "RefNotFound", "the repository has no refs/heads/main")


def of_branch() -> Probe:
    """One that has found no branch, and rests for five minutes from `NOW` on."""
    found = after(LACKS_BRANCH, WORK, DELIVER)
    assert ([f.reason for f in found.findings], found.until) == (["RefNotFound"], at(300))
    return found


def test_a_begin_that_went_well_since_has_what_was_found_looked_at_anew_soon() -> None:
    waits, soon = step(of_branch(), now=at(4), proofs={"work": at(3)})
    assert (waits, soon.actions, soon.requeue_after) == (of_branch(), (), 11)

    for now in (at(15), at(200)):
        begun, decision = step(of_branch(), now=now, proofs={"work": at(3)})
        assert decision.actions == (RunProbe("default--probe-1", "1"),)
        assert begun.at_work


def test_what_went_well_before_or_by_another_time_of_day_says_nothing() -> None:
    for proved in (at(-1), at(0), at(3600)):
        _, decision = step(of_branch(), now=at(100), proofs={"work": proved})
        assert (decision.actions, decision.requeue_after) == ((), 200)


def test_the_same_success_has_it_looked_at_but_once() -> None:
    begun, _ = step(of_branch(), now=at(20), proofs={"work": at(3)})
    gone = job(1, over(LACKS_BRANCH, WORK, DELIVER))

    again, _ = step(begun, gone, now=at(30), proofs={"work": at(3)})

    assert again.failures == 2
    _, decision = step(again, now=at(100), proofs={"work": at(3)})
    assert (decision.actions, decision.requeue_after) == ((), 230)


def found_again(*containers: Any) -> Probe:
    """One that was tried before its time because a Plan had begun, and has found this at 30."""
    begun, _ = step(of_branch(), now=at(20), proofs={"work": at(3)})
    found, _ = step(begun, job(1, over(*containers)), now=at(30), proofs={"work": at(3)})
    return found


def test_what_stays_whatever_goes_well_is_tried_in_its_usual_rhythm() -> None:
    stays = found_again(LACKS_BRANCH, WORK, DELIVER)

    same, waits = step(stays, now=at(100), proofs={"work": at(90)})
    assert (same, waits.actions, waits.requeue_after) == (stays, (), 230)

    begun, _ = step(stays, now=at(330), proofs={"work": at(320)})
    third, _ = step(begun, job(2, over(LACKS_BRANCH, WORK, DELIVER)), now=at(340))
    _, decision = step(third, now=at(400), proofs={"work": at(390)})
    assert (third.failures, decision.actions, decision.requeue_after) == (3, (), 240)


def test_what_is_found_instead_is_looked_at_anew_soon_again() -> None:
    refused = failed("probe", "RepositoryAuthFailed", "no")
    other = found_again(refused, WORK, DELIVER)
    assert [f.reason for f in other.findings] == ["RepositoryAuthFailed"]

    _, decision = step(other, now=at(100), proofs={"read": at(90)})

    assert decision.actions == (RunProbe("default--probe-2", "1"),)


def test_what_was_mended_once_is_looked_at_anew_soon_when_it_comes_back() -> None:
    sound = found_again(GOOD, WORK, DELIVER)
    back = after(LACKS_BRANCH, WORK, DELIVER, before=sound.model_copy(update={"at_work": True}))

    _, decision = step(back, now=at(100), proofs={"work": at(90)})

    assert decision.actions == (RunProbe("default--probe-2", "1"),)


def test_a_success_with_one_account_says_nothing_of_another_ones_password() -> None:
    refused = failed("probe-deliver", "RepositoryAuthFailed", "no")
    found = after(GOOD, WORK, refused)

    _, of_work = step(found, now=at(20), proofs={"work": at(3), "read": at(3)})
    assert of_work.actions == ()

    _, same = step(found, now=at(20), proofs={"deliver": at(3)})
    assert same.actions == (RunProbe("default--probe-1", "1"),)


def test_a_sound_project_is_not_tried_for_what_goes_well() -> None:
    same, decision = step(after(GOOD, WORK, DELIVER), now=at(20), proofs={"work": at(3)})

    assert (decision.actions, decision.requeue_after, same.until) == ((), None, None)
