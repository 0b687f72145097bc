"""Names of what the operator makes: refs, sessions, Jobs."""

from __future__ import annotations

import hashlib

LABEL_MANAGED = "app.kubernetes.io/managed-by"
MANAGER = "bernstein"
LABEL_PROJECT = "bernstein.dev/project"
LABEL_PLAN = "bernstein.dev/plan"
LABEL_TASK = "bernstein.dev/task"
LABEL_SESSION = "bernstein.dev/session"
LABEL_JOB = "bernstein.dev/job"
LABEL_CHECK = "bernstein.dev/check"
LABEL_ASKED = "bernstein.dev/asked"
"""On Jobs that judge: the digest of what was asked."""
LABEL_OWNER = "bernstein.dev/owner-uid"
"""On Jobs and pods: whose they are, also once the owner reference is gone."""
LABEL_REPORT = "bernstein.dev/report"
"""On what is kept of a check's log: the name of the Job that ran it."""
REPORT_CUT = "bernstein.dev/cut"
"""Annotation of such a report: `true` where only the log's end was kept."""
SPEC_HASH = "bernstein.dev/spec-hash"
RESULT_FINALIZER = "bernstein.dev/result"

_LIMIT = 63


def bounded(name: str, limit: int = _LIMIT) -> str:
    """The name, cut and made unique by a hash where it is longer than the limit."""
    if len(name) <= limit:
        return name
    digest = hashlib.sha256(name.encode()).hexdigest()[:8]
    return f"{name[: limit - 9].rstrip('-.')}-{digest}"


def session(task: str, number: int) -> str:
    return bounded(f"{task}-s{number}")


def check_job(subject: str, check: str, round_: int) -> str:
    """Name of a follow-up Job of a session (`<task>-s<k>`) or of a Plan."""
    return bounded(f"{subject}-{check.replace('_', '-')}-{round_}")


def network_policy(project: str, pods: str) -> str:
    """Name of the NetworkPolicy for some of a Project's pods."""
    return bounded(f"bernstein-{project}-{pods}")


def report(job: str) -> str:
    """Name of the ConfigMap that keeps what the check of this Job printed."""
    return f"{job}-report"


def task_prefix(owner_uid: str, task: str) -> str:
    return f"refs/bernstein/{owner_uid[:8]}/{task}"


def work_ref(owner_uid: str, task: str, number: int) -> str:
    """The session's ref: the session is the fence of everything that it pushed."""
    return f"{task_prefix(owner_uid, task)}/s{number}"


def candidate_ref(owner_uid: str, task: str) -> str:
    return f"{task_prefix(owner_uid, task)}/candidate"


def integration_ref(plan_uid: str) -> str:
    return f"refs/bernstein/{plan_uid[:8]}/integration"


def branch_ref(branch: str) -> str:
    return f"refs/heads/{branch}"
