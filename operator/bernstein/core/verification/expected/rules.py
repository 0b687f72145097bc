"""The rules that a change must keep: the stricter of what its Project and its Plan say."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from bernstein.api.plan import PlanSpec
from bernstein.api.pod import Check
from bernstein.api.project import ProjectSpec
from bernstein.api.reasons import VerdictReason
from bernstein.api.vocabulary import FILE_SCOPES, FileScope
from bernstein.checks import rules
from bernstein.checks.rules import collected_tests, file_scope, protect_tests
from bernstein.checks.spec import CheckSpec, Subject


def scope_of(project: ProjectSpec, plan: PlanSpec | None) -> FileScope | None:
    """What becomes of work that changes other files than its own; None: nothing."""
    asked = (project.file_scope, plan.file_scope if plan is not None else None)
    said = [each for each in asked if each is not None]
    return max(said, key=FILE_SCOPES.index, default=None)


def only_added_to(project: ProjectSpec, plan: PlanSpec | None) -> tuple[str, ...]:
    """The files of which work is rejected that does more than add to them."""
    return project.append_only if scope_of(project, plan) == "Enforce" else ()


def protects_tests(project: ProjectSpec, plan: PlanSpec | None) -> bool:
    """Whether tests that existed may be neither deleted nor weakened."""
    return project.protect_tests or (plan is not None and plan.protect_tests)


def of_work(
    project: ProjectSpec, plan: PlanSpec | None, files: tuple[str, ...], subject: Subject
) -> Iterator[CheckSpec]:
    """What is asked of one Task's work. A step that declares no files may change all but what may
    only be added to."""
    scope, shared = scope_of(project, plan), project.append_only
    if scope is not None and (files or shared):
        reads = Check(file_scope.NAME, file_scope.NAME, files=files, append_only=shared)
        yield _reading(reads, subject, required=scope == "Enforce")
    yield from of_whole(project, plan, subject)


def of_whole(project: ProjectSpec, plan: PlanSpec | None, subject: Subject) -> Iterator[CheckSpec]:
    """What is asked of a Plan's work as a whole. Whose files are whose was asked of each Task."""
    if protects_tests(project, plan):
        yield _reading(Check(protect_tests.NAME, protect_tests.NAME), subject)
    if project.collect_tests.enabled:
        yield _collected(project, subject, required=protects_tests(project, plan))


def _reading(reads: Check, subject: Subject, *, required: bool = True) -> CheckSpec:
    return replace(_rule(reads.name, subject, required=required), reads=reads)


def _collected(project: ProjectSpec, subject: Subject, *, required: bool) -> CheckSpec:
    runs = collected_tests.of_project(project.collect_tests.command)
    return replace(
        _rule(collected_tests.NAME, subject, required=required),
        command=runs.command,
        image=project.toolchain.image,
        timeout=project.gates.timeout_seconds,
        output=runs.output,
        against_base=runs.against_base,
        is_hint=True,
    )


def _rule(name: str, subject: Subject, *, required: bool) -> CheckSpec:
    """What all of them have."""
    rule = rules.of(name)
    return CheckSpec(
        name=name,
        kind="gate",
        title=name,
        required=required,
        is_rule=True,
        lasts=rule.lasts,
        condition=rule.condition,
        skipped=None if subject.meets(rule.condition) else VerdictReason.CONDITION_NOT_MET,
    )
