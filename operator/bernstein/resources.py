"""Our kinds as resources of the API."""

from __future__ import annotations

from bernstein.api.meta import (
    APPROVAL_KIND,
    GROUP,
    PLAN_KIND,
    PROJECT_KIND,
    ROLE_KIND,
    SESSION_KIND,
    TASK_KIND,
    VERSION,
)
from bernstein.kube.resource import Resource

PROJECTS = Resource(GROUP, VERSION, "projects", PROJECT_KIND)
PLANS = Resource(GROUP, VERSION, "plans", PLAN_KIND)
TASKS = Resource(GROUP, VERSION, "tasks", TASK_KIND)
SESSIONS = Resource(GROUP, VERSION, "agentsessions", SESSION_KIND)
APPROVALS = Resource(GROUP, VERSION, "approvals", APPROVAL_KIND)
ROLES = Resource(GROUP, VERSION, "agentroles", ROLE_KIND)
