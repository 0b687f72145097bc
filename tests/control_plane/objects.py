"""Small valid objects of every kind; tests change what they are about."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from bernstein.kube.resource import Object, Resource

PROJECTS = Resource("bernstein.dev", "v1alpha1", "projects", "Project")
PLANS = Resource("bernstein.dev", "v1alpha1", "plans", "Plan")
TASKS = Resource("bernstein.dev", "v1alpha1", "tasks", "Task")
AGENT_SESSIONS = Resource("bernstein.dev", "v1alpha1", "agentsessions", "AgentSession")
APPROVALS = Resource("bernstein.dev", "v1alpha1", "approvals", "Approval")
AGENT_ROLES = Resource("bernstein.dev", "v1alpha1", "agentroles", "AgentRole")
KINDS = {r.kind: r for r in (PROJECTS, PLANS, TASKS, AGENT_SESSIONS, APPROVALS, AGENT_ROLES)}

JUDGE: Mapping[str, Any] = {
    "name": "claude-sonnet-4-5",
    "provider": "anthropic",
    "key": {"name": "judge-key", "key": "api-key"},
}
"""A model of a Project, for gates that ask one."""
WORKFLOW: Mapping[str, Any] = {
    "phases": [{"name": "build"}],
    "nodes": [{"name": "limiter", "phase": "build"}],
}
"""A smallest one of a Plan, in place of its stages."""
_SPECS: dict[str, dict[str, Any]] = {
    "Project": {
        "repositories": [
            {
                "name": "app",
                "url": "https://git.example.com/app.git",
                "credentials": {
                    "read": {"secretName": "git-read"},
                    "work": {"secretName": "git-work"},
                    "deliver": {"secretName": "git-deliver"},
                },
            }
        ],
        "agents": [{"name": "demo", "adapter": "demo", "image": "agent-demo:dev"}],
        "toolchain": {"image": "toolchain:dev"},
        "merge": {"strategy": "direct"},
    },
    "Plan": {
        "name": "Rate limit",
        "stages": [{"name": "build", "steps": [{"title": "Write the limiter"}]}],
    },
    "Task": {"title": "Write the limiter"},
    "AgentSession": {
        "taskRef": {"name": "task", "uid": "00000000-0000-0000-0000-000000000000"},
        "project": "default",
        "attempt": 1,
        "number": 1,
        "agent": "demo",
        "adapter": "demo",
        "model": "sonnet",
        "effort": "normal",
        "baseRef": "refs/bernstein/00000000/integration",
        "workRef": "refs/bernstein/00000000/task/s1",
        "timeoutSeconds": 600,
    },
    "Approval": {
        "subject": {
            "kind": "Task",
            "name": "task",
            "uid": "00000000-0000-0000-0000-000000000000",
        },
        "asks": {"attempt": 1, "sha": "a" * 40, "base": "b" * 40, "digest": "c" * 64},
    },
    "AgentRole": {"prompt": "You work as {{ROLE}}.", "taskPrompt": "Do it:\n{{TASK_DESCRIPTION}}"},
}


OURS = {"app.kubernetes.io/managed-by": "bernstein"}
"""The label of whatever the operator makes."""


def valid(kind: str, namespace: str, name: str = "one", /, **spec: Any) -> Object:
    """An object that the API server takes, with these fields of its spec replaced."""
    resource = KINDS[kind]
    said = {**copy.deepcopy(_SPECS[kind]), **spec}
    if "workflow" in spec and "stages" not in spec:
        del said["stages"]
    labels = {"labels": OURS} if kind in ("AgentSession", "Approval") else {}
    return {
        "apiVersion": resource.api_version,
        "kind": kind,
        "metadata": {"name": name, "namespace": namespace, **copy.deepcopy(labels)},
        "spec": said,
    }


def job(namespace: str, name: str = "one", **metadata: Any) -> Object:
    """A Job as the operator makes them; `metadata` replaces fields of the Job's own metadata."""
    labels = {**OURS, "bernstein.dev/task": "task"}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": namespace, "labels": labels, **metadata},
        "spec": {
            "backoffLimit": 0,
            "template": {
                "metadata": {"labels": labels, "finalizers": ["bernstein.dev/result"]},
                "spec": {
                    "restartPolicy": "Never",
                    "automountServiceAccountToken": False,
                    "securityContext": {
                        "runAsNonRoot": True,
                        "runAsUser": 1000,
                        "seccompProfile": {"type": "RuntimeDefault"},
                    },
                    "containers": [
                        {
                            "name": "check",
                            "image": "toolchain:dev",
                            "securityContext": {
                                "allowPrivilegeEscalation": False,
                                "capabilities": {"drop": ["ALL"]},
                            },
                        }
                    ],
                },
            },
        },
    }
