"""What a session's status tells of the prompt that its agent was given."""

from __future__ import annotations

import pytest

from bernstein.api.encoding import dump
from bernstein.api.pod import CheckoutResult, PartSize, PromptResult
from bernstein.api.reasons import Reason
from bernstein.api.session import Prompt
from bernstein.api.states import SessionState
from bernstein.core.sessions.decide import SessionDecision, SessionSnapshot, decide
from bernstein.core.sessions.given import of_checkout
from tests.unit.core.objects import (
    BASE,
    TREE,
    Object,
    agent_pod,
    at,
    ended,
    job,
    over,
    pod,
    running,
    session,
    waiting,
)

GIVEN = PromptResult("f" * 64, 1234, ("file a.py: 99,999 bytes", "\x1b[2Jred"))
TOLD = Prompt(digest="f" * 64, bytes=1234, base=BASE, cut=("file a.py: 99,999 bytes", "red"))
SAID = dump(CheckoutResult(BASE, TREE, GIVEN))


def test_what_it_is_made_of_is_told_too() -> None:
    parts = (PartSize("head", 44), PartSize("\x1b[2Jcontext files", 9))
    given = PromptResult(
        "f" * 64, 1234, mark="0" * 24, parts=parts, unshown=Reason.REF_MOVED, resumed=False
    )

    told = of_checkout(CheckoutResult(BASE, TREE, given))

    assert told is not None
    assert (told.mark, told.change_missing) == ("0" * 24, "RefMoved")
    assert told.parts == {"head": 44, "context files": 9}


def test_a_container_that_put_no_prompt_together_tells_of_none() -> None:
    assert of_checkout(CheckoutResult(BASE, TREE)) is None


def look(found: Object, *, state: SessionState = SessionState.STARTING) -> SessionDecision:
    subject = session(state=state, job="work-s1", started_at=at(-30))
    return decide(SessionSnapshot(subject, job("work-s1", found), launchable=True), at(0))


def at_work(said: str = SAID) -> Object:
    return pod(ended("checkout", said=said), running("recorder"), running("agent"))


def test_it_is_told_with_the_move_to_working() -> None:
    found = look(at_work()).status

    assert (found.state, found.prompt) == (SessionState.WORKING, TOLD)


def test_a_checkout_that_has_ended_before_the_agent_began_is_worth_no_write() -> None:
    beginning = look(pod(ended("checkout", said=SAID), waiting("agent")))

    assert beginning.status.prompt is None


def test_an_end_without_a_look_before_it_tells_too() -> None:
    others = agent_pod()["status"]["initContainerStatuses"][1:]
    main = agent_pod()["status"]["containerStatuses"]

    found = look(over(ended("checkout", said=SAID), *others, *main)).status

    assert (found.state, found.prompt) == (SessionState.DEAD, TOLD)


@pytest.mark.parametrize(
    "said",
    [
        "",
        "{",
        dump(CheckoutResult(BASE, TREE)),
        dump(CheckoutResult("no commit", TREE, GIVEN)),
        dump(CheckoutResult(BASE, TREE, PromptResult("f" * 65, 1))),
    ],
)
def test_a_pod_that_does_not_tell_goes_on_without(said: str) -> None:
    found = look(at_work(said)).status

    assert (found.state, found.prompt) == (SessionState.WORKING, None)


def test_what_was_cut_stays_bounded() -> None:
    cut = tuple(f"file {n} {'x' * 1000}" for n in range(1000))
    said = dump(CheckoutResult(BASE, TREE, PromptResult("f" * 64, 1, cut)))

    prompt = look(at_work(said)).status.prompt

    assert prompt is not None
    assert len(prompt.cut) == 20
    assert all(len(each) <= 300 for each in prompt.cut)


def test_what_the_project_tells_and_the_agent_was_not_told_is_a_warning_with_what_helps() -> None:
    why = "rules: it could not be read: there is no ConfigMap 'terms'"
    said = dump(CheckoutResult(BASE, TREE, PromptResult("f" * 64, 1, untold=(why, "\x1b[2Jred"))))

    found = look(at_work(said)).status

    assert found.state == SessionState.WORKING, "it goes on"
    assert found.prompt is not None
    assert found.prompt.knowledge_missing == (why, "red")
    (told,) = (each for each in found.conditions if each.type == "KnowledgeMissing")
    assert (told.status, told.reason) == ("True", "NotRead")
    assert told.message.startswith(f"its agent was not told: {why}; red. Remedy: Make what ")


MAKE, SHORTEN = "Make what the Project names", "Shorten what is too long"


@pytest.mark.parametrize(
    ("told", "helps"),
    [
        (("rules: 65,000 bytes, for which this prompt has no room",), [SHORTEN]),
        (("rules: 900,000 bytes are too many for a prompt: 65,536 at most",), [SHORTEN]),
        (("rules: it could not be read: there is no ConfigMap 'terms'",), [MAKE]),
        (
            ("a: 65,000 bytes, for which this prompt has no room", "b: 'b' of Secret is empty"),
            [MAKE, SHORTEN],
        ),
    ],
)
def test_what_helps_fits_what_keeps_a_text_from_being_told(
    told: tuple[str, ...], helps: list[str]
) -> None:
    said = dump(CheckoutResult(BASE, TREE, PromptResult("f" * 64, 1, untold=told)))

    found = look(at_work(said)).status.conditions

    (warning,) = (each.message for each in found if each.type == "KnowledgeMissing")
    assert [words for words in (MAKE, SHORTEN) if words in warning] == helps
    assert warning.endswith("this one goes on without.")


def test_who_was_told_everything_has_no_such_warning() -> None:
    assert "KnowledgeMissing" not in [each.type for each in look(at_work()).status.conditions]
