"""What an agent may say of what it waits for: a few words and names, whatever it writes."""

from __future__ import annotations

import json

import pytest

from bernstein.api.pod import FinalRecord
from bernstein.core.sessions import outcome
from bernstein.core.sessions.blocked import MOST_BYTES, MOST_TASKS, Block, is_name, of_message, read
from tests.unit.core.objects import Object, agent_pod, ended, job, recorded, session


def file(**fields: object) -> bytes:
    return json.dumps(fields).encode()


def test_it_says_what_is_waited_for_and_which_tasks() -> None:
    assert read(file(text="a key")) == Block("a key")
    assert read(file(text="the API", tasks=["api", "db", "api"], more=1)) == Block(
        "the API", ("api", "db")
    )


@pytest.mark.parametrize(
    ("data", "wrong"),
    [
        (b" " * (MOST_BYTES + 1), "more than 65536 bytes"),
        (b"[" * MOST_BYTES, "no JSON"),
        (b'{"text": ' + b"9" * 10_000 + b"}", "no JSON"),
        (b"\xff\xfe{", "no JSON"),
        (b"", "no JSON"),
        (b'["text"]', "no object"),
        (b"{}", "no object"),
        (file(text=" \n"), "no object"),
        (file(text=3), "no object"),
        (file(text="x", tasks="api"), "no list of names"),
        (file(text="x", tasks=[["api"]]), "no list of names"),
        (file(text="x", tasks=None), "no list of names"),
        (file(text="x", tasks=["api"] * (MOST_TASKS + 1)), "names 11 Tasks"),
        (file(text="x", tasks=["../api"]), "no name"),
        (file(text="x", tasks=["api\n"]), "no name"),
        (file(text="x", tasks=["a" * 41]), "no name"),
    ],
)
def test_what_cannot_be_read_is_refused_in_our_words(data: bytes, wrong: str) -> None:
    with pytest.raises(ValueError, match=wrong) as refused:
        read(data)
    assert len(str(refused.value)) < 100


def test_a_message_says_it_with_its_last_line_alone() -> None:
    assert of_message("I tried.\n\nBLOCKED: a key for the sandbox\n") == Block(
        "a key for the sandbox"
    )
    assert of_message("BLOCKED: a key\nAll done.") is None
    assert of_message("It is BLOCKED: no") is None
    assert of_message("BLOCKED:  ") is None
    assert of_message("") is None


@pytest.mark.parametrize("name", ["", "A", "-a", "a-", "a.b", "a_b", "\uff41", "a\n"])
def test_only_what_a_task_may_be_called_is_a_name(name: str) -> None:
    assert not is_name(name)
    assert is_name("web-build-api2")


# --- what becomes of it ---------------------------------------------------------------------------


def waits_for(*names: str, message: str = "the API") -> Object:
    final = FinalRecord("Blocked", message, "I looked.", waits_for=names)
    return agent_pod(0, recorder=ended("recorder", said=recorded(final=final)))


def test_an_agent_that_waits_has_not_failed_and_its_work_is_there() -> None:
    found = outcome.classify(session(), job("work-s1", waits_for("api", "db")))

    assert found.outcome.reason == "Blocked"
    assert found.outcome.message == "the agent says that it waits for something:\n> the API"
    assert (found.outcome.waits_for, found.outcome.started) == (("api", "db"), True)
    assert found.work is not None
    assert found.work.final


def test_only_names_of_tasks_are_taken_and_not_more_than_a_status_holds() -> None:
    many = ("../x", "A", "a" * 41, *(f"t{n}" for n in range(20)))

    assert outcome.classify(session(), job("work-s1", waits_for(*many))).outcome.waits_for == tuple(
        f"t{n}" for n in range(7)
    )
    assert outcome.classify(session(), job("work-s1", waits_for())).outcome.waits_for is None


def test_a_block_without_words_says_that() -> None:
    found = outcome.classify(session(), job("work-s1", waits_for(message="")))

    assert found.outcome.message == "the agent says that it waits for something"
