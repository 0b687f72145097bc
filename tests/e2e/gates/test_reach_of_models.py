"""How far the word of models reaches in pods: a quorum, a report, two more attempts, a budget."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

import pytest

from bernstein.core.judging.asking import MAX_TOKENS
from bernstein.core.verification.models import MAX_RETRIES
from tests.e2e.conftest import MakeWorld, Object, World, condition, does, state, writing
from tests.e2e.gates.endpoint import ENOUGH, MODEL, Endpoint, serving, verdict, world_of
from tests.e2e.gates.judging import FORMATS, judges, model, reviews
from tests.stack import Stack

pytestmark = pytest.mark.verification

PROVIDERS = ("anthropic", "openai", "openai-chat")
FIRST, SECOND, THIRD = REVIEWERS = tuple(FORMATS[provider][0] for provider in PROVIDERS)
NO_TEST, NO_TYPE = "X has no test", "X has no type"
OPINIONS = {
    "[most]": {FIRST: "", SECOND: NO_TEST, THIRD: ""},
    "[few]": {FIRST: "", SECOND: NO_TEST, THIRD: NO_TYPE},
}
"""What each reviewer asks for in each story; "": nothing."""

DEAR = Decimal(1000)
"""US dollars for a million tokens of answers."""
LIMIT = DEAR * MAX_TOKENS / 1_000_000
"""What the longest answer costs."""


def scenarios() -> list[Object]:
    opinions = [
        {
            "name": f"{story} {name}",
            "match": story,
            "told": json.dumps({"model": name}).strip("{}"),
            "turns": [{"text": reviews("request_changes" if wish else "approve", wish)}],
        }
        for story, said in OPINIONS.items()
        for name, wish in said.items()
    ]
    longest = {"input": 100, "output": MAX_TOKENS}
    # The first that matches counts: what the second attempt writes is before its story.
    turns: dict[str, Object] = {
        "[content]": {"text": judges("accept", 0.9)},
        "[told]": {"text": reviews("request_changes", NO_TEST)},
        "[refused]": {"errors": [{"status": 401, "times": -1}]},
        "[never]": {"text": judges("retry", 0.9, NO_TYPE)},
        "[dear]": {"text": judges("retry", 0.9, NO_TYPE), "usage": longest},
    }
    plain = [{"name": word, "match": word, "turns": [turn]} for word, turn in turns.items()]
    return [*plain, *opinions]


@dataclass(frozen=True)
class Worlds:
    """One for each Project; all Tasks of all are at work beside each other."""

    endpoint: Endpoint
    quorum: World
    report: World
    judged: World
    limited: World


@pytest.fixture(scope="module")
def worlds(shared_world: MakeWorld, stack: Stack) -> Iterator[Worlds]:
    with serving(stack, scenarios()) as endpoint:
        begun = (quorum, report, judged, limited)
        yield Worlds(endpoint, *(begin(shared_world, endpoint) for begin in begun))


def quorum(make: MakeWorld, endpoint: Endpoint) -> World:
    """Two of three have to approve."""
    crossed = {"enabled": True, "reviewers": [*REVIEWERS], "quorum": 2}
    asked = [model(FORMATS[p][0], p, endpoint.url + FORMATS[p][1]) for p in PROVIDERS]
    writes = {story: f"{story}.py" for story in ("most", "few")}
    here = world_of(make, endpoint, writes, _alone(crossed), models=asked)
    for story, path in writes.items():
        _written_by_another(here, story, {"type": "path_exists", "path": path}, retries=0)
    return here


def report(make: MakeWorld, endpoint: Endpoint) -> World:
    """What the reviewer says keeps nothing back."""
    crossed = {"enabled": True, "reviewers": [MODEL], "onIssues": "Report"}
    twice = does("told", writing("told.py", "X = 1\n"), writing("told.py", "X: int = 1\n"))
    here = world_of(make, endpoint, {"refused": "refused.py"}, _alone(crossed), twice)
    _written_by_another(here, "refused", {"type": "path_exists", "path": "refused.py"}, retries=0)
    typed = {"type": "file_contains", "path": "told.py", "contains": "X: int"}
    _written_by_another(here, "told", typed, retries=1)
    return here


def _alone(cross_model: Object) -> Object:
    return {"pipeline": [{"name": "lint", "enabled": False}], "crossModel": cross_model}


def _written_by_another(here: World, story: str, signal: Object, retries: int) -> None:
    asked = f"[{story}] As the issue says."
    here.task(
        story, description=asked, model="gpt-5.5", completionSignals=[signal], maxRetries=retries
    )


def judged(make: MakeWorld, endpoint: Endpoint) -> World:
    """Whose judge is content with nothing."""
    here = world_of(make, endpoint, {"never": "never.py"}, {"enabled": False})
    _judged(here, "never", MAX_RETRIES + 1)
    return here


def limited(make: MakeWorld, endpoint: Endpoint) -> World:
    """Where models may cost no more for a Task than one long answer."""
    price = {"model": MODEL, "input": "0", "output": str(DEAR)}
    limits = {"modelsUsdPerTask": str(LIMIT)}
    twice = does(
        "dear", writing("dear.py", "X = 1\n"), writing("dear.py", "X: int = 1\n# [content]\n")
    )
    here = world_of(
        make,
        endpoint,
        {},
        {"enabled": False},
        twice,
        also=lambda spec: spec.update(budget={"prices": [price]}, limits=limits),
    )
    _judged(here, "dear", 1)
    return here


def _judged(here: World, story: str, retries: int) -> None:
    there = {"type": "path_exists", "path": f"{story}.py"}
    asked = {"type": "llm_judge", "criteria": f"[{story}] X has a type."}
    here.task(story, completionSignals=[asked, there], maxRetries=retries)


def findings(here: World, session: str) -> str:
    """What its agent was told of the attempt before."""
    return str(here.get("configmap", f"{session}-prompt")["data"]["findings.md"])


def excerpt(task: Object, name: str) -> str:
    (found,) = [c for c in task["status"]["verification"]["checks"] if c["name"] == name]
    return str(found["excerpt"])


def test_work_that_enough_reviewers_approve_lands_with_what_another_one_asks_for(
    worlds: Worlds,
) -> None:
    task = worlds.quorum.closed("most", ENOUGH)

    assert (verdict(task, "cross-model"), task["status"]["attempt"]) == (("Passed", ""), 1)
    told = f"approved by {FIRST}, {THIRD}\n{SECOND}:\n{NO_TEST}"
    assert excerpt(task, "cross-model") == told


def test_work_that_too_few_approve_is_rejected_with_what_each_of_the_others_asks_for(
    worlds: Worlds,
) -> None:
    task = worlds.quorum.stalled("task", "few", "ReviewRejected", ENOUGH)

    told = f"Review 'cross-model' Failed:\n{SECOND}:\n{NO_TEST}\n{THIRD}:\n{NO_TYPE}"
    assert told in task["status"]["feedback"]
    assert FIRST not in task["status"]["feedback"]
    assert "few.py" not in worlds.quorum.files()


def test_a_review_that_is_only_reported_keeps_nothing_back_and_is_told_to_the_next_attempt(
    worlds: Worlds,
) -> None:
    """The signal has sent the first attempt back; the second lands against the reviewer's word."""
    here = worlds.report
    task = here.closed("told", ENOUGH)

    assert [a["reason"] for a in task["status"]["attempts"]] == ["SignalFailed", "Succeeded"]
    assert verdict(task, "cross-model") == ("Failed", "ChangesRequested")
    blocks, advises = findings(here, "told-s2").split("Review 'cross-model' Failed", 1)
    assert "file_contains" in blocks
    assert f"{MODEL}:\n{NO_TEST}" in advises
    assert "X: int = 1" in here.on_server("show", "main:told.py")


def test_a_reviewer_who_cannot_be_asked_keeps_nothing_back_where_it_only_reports(
    worlds: Worlds,
) -> None:
    task = worlds.report.closed("refused", ENOUGH)

    assert (verdict(task, "cross-model")[0], task["status"]["attempt"]) == ("Errored", 1)


def test_a_judge_may_ask_for_two_more_attempts_and_then_a_person_decides(worlds: Worlds) -> None:
    here = worlds.judged
    task = here.await_("task", "never", lambda t: state(t) == "PendingApproval", ENOUGH)

    status = task["status"]
    assert (status["attempt"], status["judgeRetries"]) == (1 + MAX_RETRIES, MAX_RETRIES)
    assert [a["reason"] for a in status["attempts"][:-1]] == ["SignalFailed"] * MAX_RETRIES
    assert verdict(task) == ("Skipped", "JudgeRetry")
    assert "asks for one more attempt" in status["approval"]["because"][0]
    assert "a person must decide" in excerpt(task, "signal-0")
    assert NO_TYPE in excerpt(task, "signal-0")
    assert "never.py" not in here.files()

    assert here.bernstein("approve", "never").code == 0
    assert here.closed("never", ENOUGH)["status"]["attempt"] == 1 + MAX_RETRIES
    assert "never.py" in here.files()


def test_a_task_that_has_spent_what_models_may_cost_waits_until_they_may_cost_more(
    worlds: Worlds,
) -> None:
    here = worlds.limited
    task = here.stalled("task", "dear", "BudgetExceeded", ENOUGH)

    assert (state(task), task["status"]["attempt"]) == ("Done", 2)
    assert Decimal(task["status"]["modelsUsd"]) == LIMIT
    message = condition(task, "Stalled")["message"]
    assert f"limits.modelsUsdPerTask of ${LIMIT:.2f} is spent" in message
    asked = [row["scenario"] for row in worlds.endpoint.requests(here.stack)]
    assert (asked.count("[dear]"), asked.count("[content]")) == (1, 0)

    here.project["spec"]["limits"]["modelsUsdPerTask"] = str(2 * LIMIT)
    here.apply(here.project)

    closed = here.closed("dear", ENOUGH)
    assert (verdict(closed), closed["status"]["attempt"]) == (("Passed", ""), 2)
