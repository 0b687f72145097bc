"""Our kinds as resources of the API."""

from __future__ import annotations

from bernstein.api.meta import GROUP, VERSION
from bernstein.kube.resource import Resource

PROJECTS = Resource(GROUP, VERSION, "projects", "Project")
PLANS = Resource(GROUP, VERSION, "plans", "Plan")
TASKS = Resource(GROUP, VERSION, "tasks", "Task")
SESSIONS = Resource(GROUP, VERSION, "agentsessions", "AgentSession")
CORE_EVENTS = Resource("", "v1", "events", "Event")
"""The older group: its Events can be selected by what they are about."""
