"""Which checks judge the work of one Task."""

from __future__ import annotations

from functools import partial

from bernstein.api.project import ProjectSpec
from bernstein.api.reasons import Reason
from bernstein.api.session import Outcome, Work
from bernstein.api.task import Task
from bernstein.api.verification import Verification
from bernstein.checks.spec import CheckSpec, Subject
from bernstein.core import names
from bernstein.core.sanitise import count
from bernstein.core.snapshot import TaskSnapshot
from bernstein.core.verification import written
from bernstein.core.verification.candidate import can_be_made_anew, origin_of
from bernstein.core.verification.expected import reviews, rules
from bernstein.core.verification.expected.required import required_checks
from bernstein.core.verification.expected.reviewers import Writer
from bernstein.core.verification.look import Question
from bernstein.core.verification.models import MAX_RETRIES


def change_problem(task: Task, outcome: Outcome, work: Work) -> tuple[str, str] | None:
    """(reason, message) where it contradicts the step that files changed, or that none did."""
    changed = work.sha != work.base
    if task.spec.changes == "none":
        if changed:
            text = f"the step says `changes: none`, but {count(work.files_changed, 'file')} changed"
            return Reason.UNEXPECTED_CHANGES, text
        return None
    if changed or (outcome.no_change and task.spec.completion_signals):
        return None
    text = "the agent reported success, but no file changed"
    return Reason.EMPTY_DIFF, f"{text}; {outcome.message}" if outcome.message else text


def specs_of(snapshot: TaskSnapshot, judged: Verification) -> tuple[CheckSpec, ...]:
    """Every check that the Task and its Project ask for, on this change. Who leaves a plan file and
    no change is asked by the Task's own signals alone."""
    assert snapshot.project is not None
    subject = Subject(
        any_changed=judged.sha != judged.base,
        python_changed=judged.python_changed,
        tests_changed=judged.tests_changed,
        deps_changed=judged.deps_changed,
    )
    task, project = snapshot.task, snapshot.project.spec
    plan = snapshot.plan.spec if snapshot.plan is not None else None
    ruled = rules.of_work(project, plan, task.spec.files, subject)
    if snapshot.resolves is not None:
        # That nothing else is changed is seen when it is merged: here the branch's own changes are
        # part of the work.
        ruled = rules.of_whole(project, plan, subject)
    is_last = (task.status.judge_retries or 0) >= MAX_RETRIES
    signals = task.spec.completion_signals
    checks = required_checks(signals, project, subject, ruled, is_last=is_last)
    if task.spec.produces is not None and not subject.any_changed:
        # Nothing lands: a repository whose tests fail can be planned for all the same.
        return tuple(check for check in checks if check.kind == "signal")
    checks = (*checks, *reviews.of_work(project, subject, _writer(task, project)))
    return written.with_tests(checks, judged)


def _writer(task: Task, project: ProjectSpec) -> Writer:
    """What has written the work that is judged: the last attempt is its own."""
    agent = project.agent(task.spec.cli)
    model = next((attempt.model for attempt in task.status.attempts[-1:]), "")
    return Writer(model or task.spec.model or "", agent.adapter if agent is not None else "")


def question(snapshot: TaskSnapshot, judged: Verification) -> Question:
    """How the tree of a Done Task is judged."""
    assert snapshot.project is not None
    status = snapshot.task.status
    pinned = snapshot.plan.status.integration if snapshot.plan else None
    return Question(
        job=partial(
            names.session_job, snapshot.prefix_of_jobs(status) or snapshot.task.metadata.name
        ),
        checks=specs_of(snapshot, judged),
        project=snapshot.project,
        pinned_sha=pinned.target_sha if pinned else judged.base,
        onto=snapshot.target_ref,
        can_be_made_anew=can_be_made_anew(judged, origin_of(judged), snapshot.target_ref),
        crowd=snapshot.crowd,
        follows=snapshot.follows,
        cache=snapshot.gate_cache,
        title=snapshot.task.spec.title,
        description=snapshot.task.spec.description or "",
    )
