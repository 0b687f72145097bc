"""Scenarios that are kept: what once went wrong, and what the repairs are for."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tests.model.scenario import Event, Scenario, load

FOLDER = Path(__file__).parent / "stories"


MENDED = (
    # A person is asked about that very commit, which the gate is not run for (approvals/bypass).
    "a-gate-is-bypassed-whose-no-was-known",
    "a-begin-job-outlives-its-plan",
    # Nothing lands beside a check that a late request has begun (delivery/landing).
    "a-check-is-made-late-while-its-work-lands",
    "a-check-is-taken-away-while-it-runs",
    "a-claim-is-given-back-while-its-session-is-made",
    "a-quota-refuses-a-prompt",
    "a-task-waits-for-one-whose-project-is-gone",
    "a-webhook-refuses-a-network-policy",
    "a-webhook-refuses-a-session",
    "a-webhook-refuses-a-task-of-a-plan",
    # A gate has judged that tree (core/verification/cached).
    "an-agent-leaves-the-same-tree-again",
    # A Plan that is cancelled says which of its Tasks cannot end, and why (core/plans/standstill).
    "a-land-job-says-nothing-after-its-project-went",
    # One that is being deleted keeps nothing that it depends on (core/tasks/retention).
    "a-held-task-depends-on-one-whose-time-is-over",
    "a-landing-is-given-up-while-it-is-asked-for-again",
    # By both of them the session ran for no time: its node says for how long (core/sessions/usage).
    "a-leader-whose-clock-is-behind-takes-over-from-one-whose-was-not",
    "a-node-is-back-while-it-is-looked-for",
    "a-pod-is-removed-before-it-has-a-node",
    # What may be landing is followed to its end without its Project (landing.followed).
    "a-plan-is-cancelled-after-its-project-went-while-it-landed",
    "a-policy-is-tightened-while-a-candidate-is-made",
    "a-policy-refuses-a-check-for-long",
    "a-policy-refuses-an-agent",
    # No probe begins while a request for the one before it may still be applied (core/projects).
    "a-project-is-tried-again-while-a-probe-of-it-is-on-its-way",
    "a-policy-refuses-the-land-jobs-of-two-tasks",
    "the-operator-dies-while-a-task-is-refused-its-session",
    "a-policy-refuses-the-prompt-of-one-task",
    "the-time-of-day-jumps-while-a-check-runs",
    "who-moved-the-tip-is-deleted-while-a-candidate-is-made",
)
"""Stories in which nothing is found any more."""


def with_events(scenario: Scenario, *more: Event) -> Scenario:
    """The scenario in which this happens, too."""
    events = sorted((*scenario.events, *more), key=lambda event: event["at"])
    return replace(scenario, events=tuple(events))


def names() -> list[str]:
    return sorted(path.stem for path in FOLDER.glob("*.json"))


def story(name: str) -> Scenario:
    return load(FOLDER / f"{name}.json")
