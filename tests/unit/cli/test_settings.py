"""What the options that commands share make of a call."""

from __future__ import annotations

from bernstein.cli.output import details
from bernstein.cli.settings import CliSettings
from tests.unit.cli.scenes import condition, plan, terminal, verification


def test_a_command_for_the_same_cluster_names_what_the_call_named() -> None:
    settings = CliSettings(namespace="team", context="prod", kubeconfig="my files/config")

    assert settings.command_line("status", "web") == (
        "bernstein status web -n team --context prod --kubeconfig 'my files/config'"
    )


def test_a_command_says_nothing_that_the_call_did_not_say() -> None:
    assert CliSettings(json=True).command_line("logs", "web") == "bernstein logs web"


def test_the_command_that_shows_logs_is_for_the_namespace_that_was_asked() -> None:
    check = {"name": "tests", "kind": "gate", "title": "tests", "required": True, "seconds": 1}
    whole = verification(passed=False, checks=[check | {"verdict": "Failed"}])
    stalled = condition("Stalled", "True", "GateFailed")
    shown, console = terminal(width=200, settings=CliSettings(namespace="team"))

    details.tell_ending(
        shown, plan(phase="Stalled", conditions=[stalled], verification=whole), [], good=False
    )

    assert "bernstein logs rate-limit-api -n team" in console.export_text()


def test_commands_in_a_remedy_reach_the_same_cluster_unless_they_name_a_namespace() -> None:
    settings = CliSettings(namespace="team", context="prod")
    text = "Run `bernstein retry web`, or `kubectl -n other get pods`; `lint` failed."

    assert settings.placed(text) == (
        "Run `bernstein retry web -n team --context prod`, or `kubectl -n other get pods`; "
        "`lint` failed."
    )
    assert CliSettings().placed(text) == text
