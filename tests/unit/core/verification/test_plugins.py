"""Gates of a Project's own that are classes in Python: what is asked, and what their ends mean."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bernstein.api.programs.plugin import PluginConfig, PluginVerdict
from bernstein.api.project import Project
from bernstein.api.task import TaskStatus
from bernstein.api.verification import CheckResult
from bernstein.checks.spec import CheckSpec
from bernstein.core.actions import RunCheck, TaskDecision
from bernstein.core.jobs import JobView
from bernstein.core.reasons.waits import PROBE_SECONDS
from bernstein.core.tasks import decide as task_decide
from bernstein.core.verification import remedies
from bernstein.core.verification.expected import required
from tests.unit.core import objects
from tests.unit.core.objects import BASE, Object, done, ended, failed, job, over, snapshot
from tests.unit.core.verification.expected.test_required import CHANGED, NOTHING

NAME = "nofoo"
RUN, ON_BASE = "work-s1-nofoo-0", "work-s1-nofoo-0b"


def project(**more: Any) -> Project:
    pipeline = [{"name": NAME, "plugin": "Python", **more}]
    return objects.project(gates={"extends": None, "pipeline": pipeline})


def spec(subject: Any = CHANGED, **more: Any) -> CheckSpec:
    (found,) = required.required_checks((), project(**more).spec, subject)
    return found


def look(
    status: TaskStatus, *jobs: JobView, of: Project | None = None, after: float = 0
) -> TaskDecision:
    subject = snapshot(objects.task(status=status), jobs=jobs, project=of or project())
    return task_decide.decide(subject, objects.at(after))


def asked(decision: TaskDecision) -> list[RunCheck]:
    return [action for action in decision.actions if isinstance(action, RunCheck)]


def said(
    verdict: str = "Passed",
    reason: str = "",
    excerpt: str = "Found 'foo'",
    *,
    required: bool | None = True,
    name: str = NAME,
) -> Object:
    return ended("check", said=PluginVerdict(name, verdict, reason, excerpt, required))


def of(container: Object, name: str = RUN) -> JobView:
    return job(name, over(ended("checkout"), container))


def result(decision: TaskDecision) -> CheckResult:
    assert decision.status.verification is not None
    (found,) = decision.status.verification.checks
    return found


# --- what is asked ------------------------------------------------------------------------------


def test_the_image_is_the_toolchains_unless_it_has_its_own() -> None:
    assert (spec().image, spec(image="own:1").image) == (project().spec.toolchain.image, "own:1")


def test_what_the_project_does_not_say_the_class_says() -> None:
    silent, loud = spec().plugin, spec(required=False, condition="any_changed").plugin

    assert silent is not None
    assert (silent.says_required, silent.says_condition) == (True, True)
    assert loud is not None
    assert (loud.says_required, loud.says_condition) == (False, False)


def test_only_the_projects_condition_is_known_before_it_runs() -> None:
    assert spec(NOTHING).skipped is None
    assert spec(NOTHING, condition="any_changed").skipped == "ConditionNotMet"


def test_what_is_left_to_the_class_belongs_to_the_question() -> None:
    kinds: list[Object] = [{}, {"required": True}, {"condition": "always"}, {"image": "own:1"}]

    assert len({spec(**more).digest for more in kinds}) == len(kinds)


def test_a_command_is_another_question_than_a_class_that_is_asked_by_the_same_one() -> None:
    asks = spec(required=True, condition="always")
    gates = {"name": NAME, "command": asks.command, "image": asks.image, "condition": "always"}
    own = objects.project(gates={"extends": None, "pipeline": [gates]})
    (command,) = required.required_checks((), own.spec, CHANGED)

    assert command.command == asks.command
    assert command.digest != asks.digest


def test_a_built_in_gate_is_never_asked_of_a_class() -> None:
    """A CRD of an older release lets it pass."""
    of_lint = objects.project(
        gates={"extends": None, "pipeline": [{"name": "lint", "plugin": "Python"}]}
    )
    (found,) = required.required_checks((), of_lint.spec, CHANGED)

    assert found.plugin is None
    assert "ruff" in (found.command or "")


def test_it_is_told_of_the_change_and_the_task() -> None:
    (run,) = asked(look(done()))

    assert run.plugin == PluginConfig(BASE, BASE, "Do work", "", ask_condition=True)


# --- what its end means -------------------------------------------------------------------------


def test_it_passes_with_its_words() -> None:
    passed = result(look(done(), of(said())))

    assert (passed.verdict, passed.reason, passed.excerpt) == ("Passed", "", "Found 'foo'")


def test_a_secret_in_its_words_is_not_shown() -> None:
    token = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"

    found = result(look(done(), of(said(excerpt=f"Found {token}"))))

    assert found.excerpt == "Found ***"


@pytest.mark.parametrize(
    "container",
    [
        ended("check", 1, said=json.dumps({"name": NAME, "verdict": "Passed"})),
        ended("check", 1, said=PluginVerdict(NAME, "Passed", "", "", True)),
        ended("check", 0),
        ended("check", 0, said="Passed"),
        said(name="other"),
        said("Bypassed"),
        said("TimedOut"),
    ],
    ids=["log", "whole log", "nothing", "text", "another's", "bypassed", "timed out"],
)
def test_what_is_not_exactly_its_answer_is_no_verdict(container: Object) -> None:
    """What a container prints becomes its message where it has left none and fails."""
    found = result(look(done(), of(container)))

    assert (found.verdict, found.reason) == ("Errored", "PluginFailed")


@pytest.mark.parametrize(
    ("verdict", "reason", "counts"),
    [
        ("Skipped", "BaseFails", "ConditionNotMet"),
        ("Skipped", "NoBaseline", "ConditionNotMet"),
        ("Errored", "Disrupted", "PluginFailed"),
        ("Errored", "PluginInvalid", "PluginInvalid"),
        ("Errored", "PluginNotFound", "PluginNotFound"),
    ],
)
def test_it_has_no_other_reasons_than_its_own(verdict: str, reason: str, counts: str) -> None:
    found = result(look(done(), of(said(verdict, reason))))

    assert (found.verdict, found.reason) == (verdict, counts)


def test_a_class_that_is_not_required_keeps_nothing_back() -> None:
    decision = look(done(), of(said("Failed", "PluginSaysNo", required=False)))

    assert decision.status.verification is not None
    assert decision.status.verification.passed is True
    assert (result(decision).verdict, result(decision).required) == ("Failed", False)


def test_the_project_says_before_the_class_whether_it_is_required() -> None:
    no = of(said("Failed", "PluginSaysNo", required=False))

    decision = look(done(), no, of=project(required=True))

    assert [run.job for run in asked(decision)] == [ON_BASE]


def test_a_class_that_cannot_be_found_keeps_work_back() -> None:
    decision = look(done(), of(said("Errored", "PluginNotFound", required=None)))

    assert result(decision).required is True
    assert (decision.status.state, decision.status.gate_errors) == ("Done", 1)


def test_a_gate_that_checkout_refuses_is_errored_with_its_reason() -> None:
    refused = job(RUN, over(failed("checkout", "PluginInvalid", ".bernstein/gates/a.py is large")))

    found = result(look(done(), refused))

    assert (found.verdict, found.reason) == ("Errored", "PluginInvalid")
    assert found.excerpt == ".bernstein/gates/a.py is large"


def test_without_python_the_image_lacks_the_tool() -> None:
    found = result(look(done(), of(ended("check", 127, said="sh: python3: not found"))))

    assert (found.verdict, found.reason) == ("Errored", "ToolMissing")


# --- in the light of the base -------------------------------------------------------------------

NO = of(said("Failed", "PluginSaysNo"))


def test_one_that_is_against_the_base_too_tells_nothing_of_the_work() -> None:
    decision = look(done(), NO, of(said("Failed", "PluginSaysNo"), ON_BASE))

    found = result(decision)
    assert (found.verdict, found.reason) == ("Skipped", "BaseFails")
    assert decision.status.state == "Done"


@pytest.mark.parametrize(
    "base",
    [said(), said("Skipped", "ConditionNotMet"), said("Errored", "PluginFailed")],
    ids=["passes", "skipped", "cannot tell"],
)
def test_one_that_is_not_against_the_base_rejects_the_work(base: Object) -> None:
    decision = look(done(), NO, of(base, ON_BASE))

    assert decision.status.state == "Failed"
    assert result(decision).reason == "PluginSaysNo"


RAISED = said("Errored", "PluginFailed", "run() raised")


def held() -> TaskStatus:
    """After the class has raised for the first time."""
    found = look(done(), of(RAISED)).status
    assert (found.state, found.attempt) == ("Done", 1)
    return found


def test_one_that_raises_again_is_asked_of_the_base() -> None:
    decision = look(held(), of(RAISED, "work-s1-nofoo-1"), after=PROBE_SECONDS)

    assert [(run.job, run.base) for run in asked(decision)] == [("work-s1-nofoo-1b", BASE)]


def test_where_only_the_work_makes_it_raise_the_work_is_rejected() -> None:
    ends = (of(RAISED, "work-s1-nofoo-1"), of(said(), "work-s1-nofoo-1b"))

    decision = look(held(), *ends, after=PROBE_SECONDS)

    found = result(decision)
    assert (found.verdict, found.reason) == ("Failed", "PluginFailed")
    assert found.excerpt.endswith("run() raised")
    assert decision.status.state == "Failed"


def test_where_the_base_makes_it_raise_too_nobody_is_to_blame() -> None:
    ends = (of(RAISED, "work-s1-nofoo-1"), of(RAISED, "work-s1-nofoo-1b"))

    decision = look(held(), *ends, after=PROBE_SECONDS)

    assert (decision.status.state, decision.status.attempt) == ("Done", 1)
    assert result(decision).verdict == "Errored"


@pytest.mark.parametrize("reason", ["PluginNotFound", "PluginInvalid", "PluginFailed"])
def test_people_are_told_where_to_mend_it(reason: str) -> None:
    found = remedies.remedy("text", NAME, [spec()], reason, project())

    assert "Plans that begin later" in found
    assert found.endswith("Else change gates.pipeline of the Project for 'nofoo'.")
