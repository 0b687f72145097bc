"""What is waited for: it fits into a status whatever is written, and it ends."""

from __future__ import annotations

import ast
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bernstein
from bernstein.api.project import Probe, Project
from bernstein.api.reasons import Reason
from bernstein.api.states import TaskState
from bernstein.api.waiting import LONGEST_MESSAGE, Waiting
from bernstein.core import waiting
from bernstein.core.reasons.waits import MAX_RETRY_AFTER_SECONDS, PROBE_SECONDS
from bernstein.core.sanitise import quoting
from bernstein.core.sanitise import text as sanitise
from tests.unit.core import objects
from tests.unit.core.objects import NOW, at, project, status

EMOJI = "\U0001f525"
words = st.text(max_size=300) | st.sampled_from([EMOJI * 9000, "a\n" * 9000, "@x. Remedy: " * 900])


@given(reason=words, text=words, remedy=st.none() | words, person=st.booleans())
def test_whatever_is_said_fits_and_is_harmless(
    reason: str, text: str, remedy: str | None, person: bool
) -> None:
    found = waiting.wait(reason, text, NOW, needs_person=person, remedy=remedy)

    assert Waiting.model_validate(found.dump()) == found
    assert len(found.message) <= LONGEST_MESSAGE
    assert sanitise(found.message, LONGEST_MESSAGE) == found.message
    assert found.reason.isalnum()


@pytest.mark.parametrize("text", ["x" * 9000, EMOJI * 9000, "is wrong." * 1000])
def test_a_long_message_is_cut_and_keeps_its_remedy(text: str) -> None:
    found = waiting.wait("GateErrored", text, NOW, needs_person=True, remedy="Mend it.")

    assert len(found.message) > LONGEST_MESSAGE - 50
    assert waiting.parted(found.message)[1] == "Mend it."


def test_who_needs_a_person_is_told_what_helps() -> None:
    found = waiting.waits(status(), "AgentNotFound", "there is none", NOW, needs_person=True)

    assert found.waiting is not None
    assert waiting.parted(found.waiting.message)[1] == "Choose one of the Project's agents."


@pytest.mark.parametrize("remedy", [None, "Mend it."])
@pytest.mark.parametrize("needs_person", [True, False])
@pytest.mark.parametrize("text", ["there is none", "a → b → a.", "it is wrong..."])
def test_what_says_the_same_already_is_known_without_making_it(
    text: str, needs_person: bool, remedy: str | None
) -> None:
    made = waiting.wait("AgentNotFound", text, NOW, needs_person=needs_person, remedy=remedy)

    def same(reason: str, text: str, remedy: str | None) -> bool:
        return waiting.says(made, reason, text, needs_person=needs_person, remedy=remedy)

    assert same("AgentNotFound", text, remedy)
    assert not same("ProjectGone", text, remedy)
    assert not same("AgentNotFound", f"{text} at all", remedy)
    assert not same("AgentNotFound", text, "Something else.")


def test_what_was_tried_stays_known_while_something_else_is_waited_for() -> None:
    held = waiting.held(status(), "SecretNotFound", "no Secret", project(), NOW)
    other = waiting.waits(held, "MaxAgents", "all are at work", NOW)

    assert other.waiting is not None
    assert held.waiting is not None
    assert other.waiting.tried == held.waiting.tried
    assert (other.waiting.reason, other.waiting.until) == ("MaxAgents", None)
    assert waiting.goes_on(other).waiting is None


@pytest.mark.parametrize(("later", "left"), [(0, 300), (299, 1), (300, None), (9999, None)])
def test_a_time_to_wait_ends(later: float, left: float | None) -> None:
    held = waiting.held(status(), "SecretNotFound", "no Secret", project(), NOW).waiting

    assert waiting.seconds_left(held, project(), at(later)) == left
    assert waiting.seconds_left(held, project(generation=2), at(later)) is None


def test_what_only_a_change_of_the_project_helps_has_no_time() -> None:
    held = waiting.held(status(), "GateFailed", "no", project(), NOW, None).waiting

    assert held is not None
    assert held.until is None
    assert not waiting.is_mended(held, project())
    assert waiting.is_mended(held, project(generation=2))


# --- a missing Secret -----------------------------------------------------------------------------

GONE = 'MountVolume.SetUp failed for volume "git" : secret "git-read" not found'
NO_KEY = "couldn't find key password in Secret team/git-read"


def told_by_probe(*messages: str) -> Project:
    """The Project whose probe waits for the Secrets that these name."""
    findings = [
        {"subject": "read", "reason": "SecretNotFound", "message": message} for message in messages
    ]
    probe = Probe.model_validate({"generation": 1, "number": 3, "findings": findings})
    found = project()
    return found.model_copy(update={"status": found.status.model_copy(update={"probe": probe})})


def rarely(subject: Project, message: str = GONE) -> Waiting:
    """The waiting of what has tried so often that it tries every minute."""
    before = status()
    for _ in range(30):
        times = waiting.tries(before, "SecretNotFound", subject)
        wait = waiting.seconds_to_next_try("SecretNotFound", message, times, subject)
        before = waiting.held(before, "SecretNotFound", message, subject, NOW, wait)
    assert before.waiting is not None
    return before.waiting


@pytest.mark.parametrize("message", [GONE, NO_KEY])
def test_a_created_secret_is_noticed_within_15_s_however_long_it_was_missing(message: str) -> None:
    missing = told_by_probe(message)
    held = rarely(missing, message)
    assert waiting.seconds_left(held, missing, at(30)) == 30, "a pod of the probe waits for it"

    assert waiting.seconds_left(held, told_by_probe(), at(7)) == 1
    assert waiting.seconds_left(held, told_by_probe(), at(15)) is None, "and tells that it is there"
    other = told_by_probe('secret "git-deliver" not found')
    assert waiting.seconds_left(held, other, at(15)) is None, "another one is missing still"


@pytest.mark.parametrize("subject", [project(), told_by_probe()])
def test_where_no_probe_waits_for_the_secret_each_try_is_within_15_s_of_the_last(
    subject: Project,
) -> None:
    held = rarely(subject)

    assert held.until is not None
    assert held.until <= at(15)


def test_who_has_waited_long_for_a_secret_that_no_probe_looks_for_rests_after_each_try() -> None:
    held = rarely(told_by_probe(GONE)).model_copy(update={"since": at(-3600)})
    assert waiting.seconds_left(held, project(), at(1)) == 7, "counted from the last try"

    again = waiting.held(status(), "SecretNotFound", GONE, project(), NOW, 60).waiting
    assert again is not None
    again = again.model_copy(update={"since": at(-3600)})
    assert waiting.seconds_left(again, project(), at(1)) == 7


@pytest.mark.parametrize(
    ("reason", "message"),
    [("PodRejected", f"quota: {GONE}"), ("SecretNotFound", 'secret "of-a-webhook" not found')],
)
def test_what_is_about_no_secret_of_the_project_keeps_its_time(reason: str, message: str) -> None:
    held = waiting.held(status(), reason, message, project(), NOW, 60).waiting

    assert waiting.seconds_left(held, project(), at(15)) == 45


def test_keys_of_models_and_attestations_are_secrets_of_the_project_too() -> None:
    agent = {"name": "a", "adapter": "codex", "image": "a:1", "apiKey": {"name": "llm", "key": "k"}}
    key = {"key": {"name": "signs", "key": "key.pem"}, "publicKey": "key.pub"}
    subject = project(agents=[agent], attestation=key)

    for name in ("llm", "signs", "git-deliver"):
        held = waiting.held(
            status(), "SecretNotFound", f'secret "{name}" not found', subject, NOW, 60
        )
        assert waiting.seconds_left(held.waiting, subject, NOW) == 8


def test_a_key_that_no_probe_waits_for_is_tried_as_anything_else() -> None:
    subject = project(attestation={"key": {"name": "signs", "key": "key.pem"}})
    missing = 'secret "signs" not found'

    held = waiting.held(status(), "SecretNotFound", missing, subject, NOW, 60).waiting

    assert waiting.seconds_left(held, subject, NOW) == 60


def test_a_refused_login_names_the_secret_of_the_account_and_its_field() -> None:
    refused = "the account 'work' does not see the repository"
    message = quoting(refused, "the account 'deliver' was hacked", 500)

    held = waiting.held(status(), "RepositoryAuthFailed", message, project(), NOW).waiting

    assert held is not None
    assert held.message == (
        f"{refused}. Remedy: Check the url, and user name and password, or the SSH key, in the "
        "Secret that the Project names: 'git-work' "
        "(spec.repositories[0].credentials.work.secretName)."
    )


# --- the time of day jumps ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reason", "longest"),
    [
        ("SecretNotFound", PROBE_SECONDS),
        ("InfrastructureError", PROBE_SECONDS),
        ("NewerThanThis", PROBE_SECONDS),
        ("UsageLimited", MAX_RETRY_AFTER_SECONDS),
        ("ProviderUnavailable", MAX_RETRY_AFTER_SECONDS),
    ],
)
def test_when_the_time_of_day_goes_back_nobody_waits_longer_than_the_reason_ever_does(
    reason: str, longest: float
) -> None:
    held = waiting.held(status(), reason, "", project(), NOW, longest).waiting
    back = NOW - timedelta(days=400)

    assert waiting.seconds_left(held, project(), back) is None
    # Clocks of two replicas differ a little.
    assert waiting.seconds_left(held, project(), at(-waiting.SKEW_SECONDS)) is not None
    assert waiting.seconds_left(held, project(), at(-waiting.SKEW_SECONDS - 1)) is None


@given(jump=st.integers(-10_000_000, 10_000_000), asked=st.integers(1, MAX_RETRY_AFTER_SECONDS))
def test_however_the_time_of_day_jumps_the_wait_is_bounded(jump: int, asked: int) -> None:
    held = waiting.held(status(), "UsageLimited", "", project(), NOW, asked).waiting

    left = waiting.seconds_left(held, project(), at(jump))

    assert (left or 0) <= MAX_RETRY_AFTER_SECONDS + waiting.SKEW_SECONDS


def test_when_the_time_of_day_goes_forward_it_is_tried_early() -> None:
    held = waiting.held(status(), "UsageLimited", "", project(), NOW, 3600).waiting

    assert waiting.seconds_left(held, project(), at(7200)) is None


# --- one place ------------------------------------------------------------------------------------


def test_nothing_else_makes_what_is_waited_for() -> None:
    package = Path(bernstein.__path__[0])
    makers = {
        path.relative_to(package).as_posix()
        for path in package.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Waiting"
    }

    assert makers == {"core/waiting.py"}


def test_the_scope_is_by_the_table() -> None:
    assert waiting.scope_of("SecretNotFound") == "Agent"
    assert waiting.scope_of("PlanSuspended") == "Plan"
    assert waiting.scope_of("MaxAgents") == "Task"
    assert objects.held("UsageLimited", None).scope == "Task"


@pytest.mark.parametrize("reason", [Reason.DELETION_HELD, Reason.NAME_CONFLICT])
def test_what_a_task_waits_for_because_of_another_one_stays_when_it_is_looked_at(
    reason: Reason,
) -> None:
    """Else it would come and go: the schedule says so again, and wakes who looks."""
    behind = waiting.waits(status(TaskState.OPEN), reason, "'a' stands still", NOW)

    assert waiting.unblocked(behind) == behind
    at_work = behind.model_copy(update={"state": TaskState.CLAIMED})
    assert waiting.unblocked(at_work).waiting is None
