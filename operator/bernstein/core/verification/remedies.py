"""How people are told that a check could not run, and what helps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from bernstein.api.project import Project
from bernstein.api.reasons import Reason, VerdictReason
from bernstein.checks.rules import collected_tests, file_scope, protect_tests
from bernstein.checks.spec import CheckSpec
from bernstein.core.diagnosis import Diagnosis
from bernstein.core.reasons import POLICIES
from bernstein.core.remedies import remedy_of
from bernstein.core.verification import models
from bernstein.core.verification.inspections import is_inspection, is_judge

_TITLE = 120
"""Characters of a signal's title, which holds its whole command."""
_CUT_OFF = (Reason.DISRUPTED, Reason.POD_LOST, Reason.TERMINATED)
_WITHOUT_MEANS = (VerdictReason.OUT_OF_MEMORY, VerdictReason.RESOURCE_LIMIT)
_OF_PLUGINS: Mapping[str, str] = {
    VerdictReason.PLUGIN_NOT_FOUND: "Put the class into the folder .bernstein/gates of the branch.",
    VerdictReason.PLUGIN_INVALID: "Mend or remove what is named there.",
    VerdictReason.PLUGIN_FAILED: "Mend the class, or let it pass over what it cannot read.",
}
_UNUSABLE = (
    "Read the test in the log of the check: a change that cannot be imported lets none run; name "
    "another model for it."
)
_FROM_THEN_ON = "What is on the branch then counts for Plans that begin later."
_FIELDS = {
    file_scope.NAME: "fileScope",
    protect_tests.NAME: "protectTests",
    collected_tests.NAME: "collectTests",
}
_SIGNALS = "another signal in a new plan or task: those of this one cannot be changed."


def told(check: str, checks: Iterable[CheckSpec], why: Diagnosis, project: Project) -> str:
    """What could not run and why. A gate is called by its name, a signal by its title: its own name
    is no word of the user's."""
    spec = _named(check, checks)
    called = check if spec is None or spec.kind == "gate" else spec.title[:_TITLE]
    if is_inspection(check):
        called = "the checks that only read"
    if is_judge(check):
        called = "the checks that ask a model"
    is_its_image = spec is not None and f"'{spec.image}'" in why.message
    where = f" in {_image(spec, project)}" if spec is not None and is_its_image else ""
    return f"'{called}' could not run{where}: {why.reason}: {why.message}"


def remedy(
    text: str, check: str, checks: Iterable[CheckSpec], reason: str, project: Project
) -> str:
    """What helps against exactly this, and the place where it can be changed."""
    own = _own(_named(check, checks), reason, project)
    if own is not None:
        return own
    known = reason in POLICIES and POLICIES[Reason(reason)].remedy
    return remedy_of(reason if known else Reason.GATE_ERRORED, text, project)


def _own(spec: CheckSpec | None, reason: str, project: Project) -> str | None:
    """The remedy for exactly this check; None where that of the reason says enough."""
    if reason in _CUT_OFF:
        return "Find out what ends pods here; checks run again when the Project changes."
    if spec is not None and reason == VerdictReason.WRITTEN_TEST_UNUSABLE:
        return f"{_UNUSABLE} Else {_instead(spec)}"
    if spec is not None and spec.asks is not None and not spec.executes:
        return models.remedy(reason)
    if spec is None or (reason in POLICIES and reason != Reason.TOOL_MISSING):
        return None
    instead = _instead(spec)
    if reason in _OF_PLUGINS:
        return f"{_OF_PLUGINS[reason]} {_FROM_THEN_ON} Else {instead}"
    if reason == Reason.TOOL_MISSING:
        return f"Install the command in {_image(spec, project)}, or {instead}"
    if reason in _WITHOUT_MEANS:
        return f"Raise toolchain.resources of the Project, or {instead}"
    if spec.command is None:
        return instead[0].upper() + instead[1:]
    return f"Check its command and {_image(spec, project)}, or {instead}"


def _named(check: str, checks: Iterable[CheckSpec]) -> CheckSpec | None:
    return next((spec for spec in checks if spec.name == check), None)


def _instead(spec: CheckSpec) -> str:
    if spec.kind == "signal":
        return f"use {_SIGNALS}"
    if spec.name in _FIELDS:
        return f"take {_FIELDS[spec.name]} out of the Project, where it asks for that."
    return f"change gates.pipeline of the Project for '{spec.name}'."


def _image(spec: CheckSpec, project: Project) -> str:
    """The field of the Project that names the image in which the check runs."""
    own = any(s.name == spec.name and s.image for s in project.spec.gates.pipeline)
    if spec.kind == "gate" and own:
        return f"the image of the gate '{spec.name}' in the Project"
    return "the Project's toolchain.image"
