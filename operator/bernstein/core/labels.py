"""Labels, annotations and the finalizer of the objects that the operator makes."""

from __future__ import annotations

OURS = "bernstein.dev/"
"""What the names of our own labels and annotations begin with."""
MANAGED_BY = "app.kubernetes.io/managed-by"
MANAGER = "bernstein"
PROJECT = "bernstein.dev/project"
PLAN = "bernstein.dev/plan"
STAGE = "bernstein.dev/stage"
TASK = "bernstein.dev/task"
SESSION = "bernstein.dev/session"
JOB = "bernstein.dev/job"
"""What the Job is for: the name of its main container (see `bernstein.api.pod`)."""
JOB_NAME = "batch.kubernetes.io/job-name"
"""Kubernetes' own, on pods: the name of the Job that made it."""
JOB_UID = "batch.kubernetes.io/controller-uid"
"""Kubernetes' own, on pods: the uid of the Job that made it."""
REPOSITORY = "bernstein.dev/repository"
"""On Jobs and pods: the Project's repository that they work in; absent: the first."""
CHECK = "bernstein.dev/check"
ASKED = "bernstein.dev/asked"
"""On Jobs that judge: the digest of what was asked."""
MADE_WITH = "bernstein.dev/made-with"
"""On Jobs of gates: the digest of what they were made with, where a verdict may be kept."""
KNOWN_BASE = "bernstein.dev/known-base"
"""On Jobs that compare with a base that was known: the digest of the images that it was measured
in."""
OWNER_UID = "bernstein.dev/owner-uid"
"""On Jobs and pods: the uid of their owner, for when the owner reference is gone."""
CHECK_LOG = "bernstein.dev/report"
"""On the ConfigMap that keeps a check's log: the name of the Job that ran the check.

Logs of checks were called reports once. The word stays in what is stored, as in `status.reports`:
newer releases find what older ones have made."""
CUT = "bernstein.dev/cut"
"""Annotation of that ConfigMap: `true` where only the log's end was kept."""
CONTENT = "bernstein.dev/content"
"""Annotation of a Plan that was made of a file: the digest of what it asks for."""
SUBTASK_OF = "bernstein.dev/subtask-of"
"""On a subtask: the name of the Task that was split into it."""
SEED_ID = "bernstein.dev/seed-id"
"""On a Task that was made of a task file: the id that it has there. People may set it."""
STOPPED = "bernstein.dev/stopped"
"""Annotation of a Plan that `bernstein stop` has suspended: `bernstein start` resumes it."""
SPEC_HASH = "bernstein.dev/spec-hash"
"""Annotation: the hash of what the operator wrote, so that a change by others is seen."""
EXPIRES = "bernstein.dev/expires"
"""Annotation of a Secret of a GitHub App: when its token ends."""
FINALIZER = "bernstein.dev/result"
"""On agents' pods and on sessions, until their outcome is recorded."""
FOREGROUND = "foregroundDeletion"
"""Kubernetes' own finalizer of what is deleted together with what it owns."""
READ = (
    MANAGED_BY,
    PROJECT,
    PLAN,
    TASK,
    SUBTASK_OF,
    SESSION,
    JOB,
    JOB_NAME,
    JOB_UID,
    REPOSITORY,
    CHECK,
    ASKED,
    MADE_WITH,
    KNOWN_BASE,
    OWNER_UID,
)
"""Labels that the operator reads in its caches. Others it only writes, or people and `bernstein`
read them."""
FINALIZERS_READ = (FINALIZER, FOREGROUND)
"""Finalizers that it looks for by name."""
