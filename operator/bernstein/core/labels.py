"""Labels, annotations and the finalizer of the objects that the operator makes."""

from __future__ import annotations

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
CHECK = "bernstein.dev/check"
ASKED = "bernstein.dev/asked"
"""On Jobs that judge: the digest of what was asked."""
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
SPEC_HASH = "bernstein.dev/spec-hash"
"""Annotation: the hash of what the operator wrote, so that a change by others is seen."""
FINALIZER = "bernstein.dev/result"
"""On agents' pods and on sessions, until their outcome is recorded."""
