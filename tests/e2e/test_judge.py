"""Signals and gates that ask a model, in real pods, against a scripted endpoint that speaks TLS."""

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import Decimal

import pytest

from tests.e2e.conftest import EXISTS, MakeWorld, World, does, state, writing
from tests.e2e.gates.endpoint import (
    ENOUGH,
    KEY,
    MODEL,
    TALK,
    Endpoint,
    errs,
    serving,
    verdict,
    world_of,
)
from tests.e2e.gates.judging import (
    BETTER,
    COMMENTS,
    FORMATS,
    MENDED,
    STORIES_OF_EXAMPLES,
    TESTED,
    TOLD,
    USED,
    WRITTEN,
    model,
    scenarios,
    writes_examples,
)
from tests.stack import Stack
from tests.unit.checks import examples

pytestmark = pytest.mark.verification


@pytest.fixture(scope="module")
def endpoint(stack: Stack) -> Iterator[Endpoint]:
    with serving(stack, scenarios()) as served:
        yield served


@pytest.fixture(scope="module")
def here(shared_world: MakeWorld, endpoint: Endpoint) -> World:
    writes = dict.fromkeys(("fine", "no", "chatty", "unsure", "down"), "new.py")
    again = does(
        "again",
        writing("again.py", f"X = 1\n{TALK}"),
        writing("again.py", f"X: int = 1\n{TALK}# {BETTER}\n"),
    )
    built = world_of(shared_world, endpoint, writes, {"enabled": False}, again)
    for story in ("fine", "no", "chatty", "down"):
        asked = {"type": "llm_review", "criteria": f"[{story}] Every function has a test."}
        built.task(story, completionSignals=[asked, EXISTS], maxRetries=0)
    built.task(
        "unsure",
        completionSignals=[{"type": "llm_judge", "criteria": "[unsure]"}, EXISTS],
        maxRetries=0,
    )
    there = {"type": "path_exists", "path": "again.py"}
    asked = {"type": "llm_judge", "criteria": "[again] X has a type."}
    built.task("again", completionSignals=[asked, there], maxRetries=1)
    return built


@pytest.fixture(scope="module")
def gated(shared_world: MakeWorld, endpoint: Endpoint) -> World:
    folders = [story.strip("[]") for story in STORIES_OF_EXAMPLES]
    of_examples = [does(folder, writes_examples(folder)) for folder in folders]
    pipeline = [{"name": name} for name in TOLD]
    built = world_of(shared_world, endpoint, {}, {"pipeline": pipeline}, *of_examples)
    for story in folders:
        there = {"type": "path_exists", "path": story}
        asked = f"[{story}] As the issue says."
        built.task(story, description=asked, completionSignals=[there], maxRetries=0)
    return built


@pytest.fixture(scope="module")
def reviewed(shared_world: MakeWorld, endpoint: Endpoint) -> World:
    """Whose changes are reviewed by the model, and by no gate."""
    writes = {"approved": "approved.py", "own": "own.py"}
    first, then = (f"X{kind} = 1\n{TALK}" for kind in ("", ": int"))
    mends = does(
        "asked", writing("reviewed.py", first), writing("reviewed.py", f"{then}# {MENDED}\n")
    )
    off = [{"name": "lint", "enabled": False}]
    gates = {"pipeline": off, "crossModel": {"enabled": True, "reviewers": [MODEL]}}
    built = world_of(shared_world, endpoint, writes, gates, mends)
    for story, path in (writes | {"asked": "reviewed.py"}).items():
        built.task(
            story,
            description=f"[{story}] As the issue says.",
            model="claude-opus-4-5" if story == "own" else "gpt-5.5",
            completionSignals=[{"type": "path_exists", "path": path}],
            maxRetries=1 if story == "asked" else 0,
        )
    return built


@pytest.fixture(scope="module")
def asked_in_all_formats(shared_world: MakeWorld, endpoint: Endpoint) -> World:
    """Whose change is reviewed by a model of every provider, all of which have to approve."""
    reviewers = [name for name, _, _ in FORMATS.values()]
    review = {"enabled": True, "reviewers": reviewers, "quorum": len(reviewers)}
    gates = {"pipeline": [{"name": "lint", "enabled": False}], "crossModel": review}
    models = [
        model(name, provider, endpoint.url + path) for provider, (name, path, _) in FORMATS.items()
    ]
    built = world_of(shared_world, endpoint, {"everybody": EXISTS["path"]}, gates, models=models)
    built.task(
        "everybody",
        description="[everybody] As the issue says.",
        model="gpt-5.5",
        completionSignals=[EXISTS],
        maxRetries=0,
    )
    return built


@pytest.fixture(scope="module")
def tested(shared_world: MakeWorld, endpoint: Endpoint) -> World:
    works = {story.strip("[]"): str(tree.after["app.py"]) for story, tree in TESTED.items()}
    leaves = [does(story, writing("app.py", f"{text}{TALK}")) for story, text in works.items()]
    pipeline = [{"name": "integration_test_gen"}]
    built = world_of(shared_world, endpoint, {}, {"pipeline": pipeline}, *leaves)
    for story in works:
        asked = f"[{story}] As the issue says."
        share = {"type": "file_contains", "path": "app.py", "contains": "def share"}
        built.task(story, description=asked, completionSignals=[share], maxRetries=0)
    return built


def test_a_model_that_says_yes_lets_work_land_and_is_paid_for(here: World) -> None:
    task = here.closed("fine", ENOUGH)

    assert verdict(task) == ("Passed", "")
    (call,) = task["status"]["verification"]["calls"]
    assert (call["model"], call["source"]) == (MODEL, "Computed")
    assert Decimal(call["spendUsd"]) == Decimal("0.0045")
    assert Decimal(task["status"]["spendUsd"]) >= Decimal("0.0045")


def test_a_model_that_says_no_ends_the_attempt_with_its_words(here: World) -> None:
    task = here.stalled("task", "no", "SignalFailed", ENOUGH)

    assert verdict(task) == ("Failed", "CriteriaNotMet")
    assert "new.py: has no test" in task["status"]["feedback"]


def test_a_model_that_was_talked_round_has_not_answered(here: World) -> None:
    task = here.await_("task", "chatty", errs, ENOUGH)

    assert state(task) == "Done"
    assert verdict(task) == ("Errored", "AnswerNotInForm")
    assert task["status"]["attempt"] == 1


def test_one_more_attempt_that_a_judge_asks_for_is_made_and_told_its_words(here: World) -> None:
    task = here.closed("again", ENOUGH)

    assert verdict(task) == ("Passed", "")
    assert (task["status"]["attempt"], task["status"]["judgeRetries"]) == (2, 1)
    assert task["status"]["attempts"][0]["reason"] == "SignalFailed"
    told = here.get("configmap", "again-s2-prompt")["data"]["findings.md"]
    assert "again.py: X has no type" in told
    assert "X: int = 1" in here.on_server("show", "main:again.py")


def test_a_provider_that_is_down_is_asked_again_at_no_cost_of_an_attempt(here: World) -> None:
    task = here.closed("down", ENOUGH)

    assert task["status"]["attempt"] == 1
    assert task["status"]["verification"]["round"] >= 1


def test_what_a_model_alone_cannot_let_on_waits_for_a_person(here: World) -> None:
    task = here.await_("task", "unsure", lambda t: state(t) == "PendingApproval", ENOUGH)

    assert "could not tell for sure" in task["status"]["approval"]["because"][0]
    assert "landedAt" not in (task["status"].get("delivery") or {})


def test_the_key_is_in_no_log_and_no_object(here: World) -> None:
    here.closed("fine", ENOUGH)

    pods = [p for p in here.all("pod") if p["metadata"]["labels"]["bernstein.dev/job"] == "judge"]
    assert pods
    for pod in pods:
        assert KEY not in json.dumps(pod)
        assert KEY not in here.kubectl("logs", pod["metadata"]["name"], "--all-containers")


# --- gates ----------------------------------------------------------------------------------------


def test_the_examples_of_gates_are_accepted_and_rejected(gated: World) -> None:
    names = ("intent_verification", "review_rubric", "test_expansion")
    accepted = gated.closed("accepted", ENOUGH)
    rejected = gated.stalled("task", "rejected", "GateFailed", ENOUGH)

    assert [verdict(accepted, name)[0] for name in names] == ["Passed"] * len(names)
    assert [verdict(rejected, name) for name in names] == [
        ("Failed", examples.of_gate(name).reason) for name in names
    ]


# --- reviews by models of other makers ------------------------------------------------------------


def test_work_that_another_makers_model_approves_lands_and_says_who_did(reviewed: World) -> None:
    task = reviewed.closed("approved", ENOUGH)

    assert verdict(task, "cross-model") == ("Passed", "")
    checks = {c["name"]: c for c in task["status"]["verification"]["checks"]}
    assert checks["cross-model"]["excerpt"] == f"approved by {MODEL}"
    (call, *_) = task["status"]["verification"]["calls"]
    assert (call["model"], call["source"]) == (MODEL, "Computed")


def test_changes_that_it_asks_for_are_the_next_attempts_to_make(reviewed: World) -> None:
    task = reviewed.closed("asked", ENOUGH)

    assert task["status"]["attempt"] == 2
    assert task["status"]["attempts"][0]["reason"] == "ReviewRejected"
    told = reviewed.get("configmap", "asked-s2-prompt")["data"]["findings.md"]
    assert f"Review 'cross-model' Failed:\n{MODEL}:\n{COMMENTS}" in told
    assert "X: int = 1" in reviewed.on_server("show", "main:reviewed.py")


def test_no_agent_is_paid_for_work_that_its_own_makers_model_would_review(reviewed: World) -> None:
    task = reviewed.stalled("task", "own", "NoReviewer", ENOUGH)

    assert state(task) == "Open"
    assert f"'{MODEL}' is of Anthropic" in task["status"]["waiting"]["message"]
    assert "own-s1" not in [s["metadata"]["name"] for s in reviewed.all("agentsession")]


def test_all_formats_are_spoken_from_one_pod(asked_in_all_formats: World) -> None:
    task = asked_in_all_formats.closed("everybody", ENOUGH)

    assert verdict(task, "cross-model") == ("Passed", "")
    checks = {c["name"]: c for c in task["status"]["verification"]["checks"]}
    approved = ", ".join(name for name, _, _ in FORMATS.values())
    assert checks["cross-model"]["excerpt"] == f"approved by {approved}"


@pytest.mark.parametrize("provider", FORMATS)
def test_a_model_is_asked_at_its_providers_path_and_its_tokens_are_counted(
    asked_in_all_formats: World, endpoint: Endpoint, provider: str
) -> None:
    task = asked_in_all_formats.closed("everybody", ENOUGH)

    name, _, path = FORMATS[provider]
    rows = endpoint.requests(asked_in_all_formats.stack)
    assert [(r["scenario"], r["status"]) for r in rows if r["path"] == path] == [
        ("review [everybody]", 200)
    ]
    (call,) = [c for c in task["status"]["verification"]["calls"] if c["model"] == name]
    counted = {"input": 60, "output": USED["output"], "cacheRead": USED["cache_read"]}
    assert {kind: call["usage"][kind] for kind in counted} == counted


# --- tests that a model writes --------------------------------------------------------------------


def test_work_that_a_written_test_passes_lands_without_the_test(tested: World) -> None:
    task = tested.closed("holds", ENOUGH)

    assert verdict(task, "integration_test_gen") == ("Passed", "")
    (call, *_) = task["status"]["verification"]["calls"]
    assert (call["model"], call["source"]) == (MODEL, "Computed")
    assert "test_written" not in tested.on_server("ls-tree", "-r", "--name-only", "main")


def test_a_written_test_that_fails_ends_the_attempt_and_is_told(tested: World) -> None:
    task = tested.stalled("task", "breaks", "GateFailed", ENOUGH)

    assert verdict(task, "integration_test_gen") == ("Failed", WRITTEN.reason)
    assert WRITTEN.told in task["status"]["feedback"]
    assert "assert app.share(4, 2) == 2" in task["status"]["feedback"]


def test_what_runs_a_written_test_has_no_key(tested: World) -> None:
    tested.closed("holds", ENOUGH)

    runs = [
        pod
        for pod in tested.all("pod")
        if pod["metadata"]["labels"].get("bernstein.dev/check") == "integration_test_gen"
    ]
    assert runs
    for pod in runs:
        assert "judge-key" not in json.dumps(pod["spec"])
