"""Whether an AgentRole can be used, and what its status says of that."""

from __future__ import annotations

from datetime import datetime
from functools import lru_cache

from bernstein.api.meta import ConditionType
from bernstein.api.reasons import Reason
from bernstein.api.roles.role import (
    MOST_TASKS,
    AgentRole,
    AgentRoleSpec,
    AgentRoleStatus,
    EffectiveRole,
)
from bernstein.api.vocabulary import ROLES
from bernstein.core.conditions import drop, note
from bernstein.core.roles import template

_AUTO = "auto"
_MODEL_WAITS = (
    "their Tasks of this role wait; name another model, or add it to an agent's models or to "
    "budget.prices of the Project"
)
_CORRECT = "Correct these fields of its spec: the Tasks that wait for it go on by themselves."
_LISTED = 3000
"""Characters of problems in a condition, which holds 4096 with the remedy."""


@lru_cache(maxsize=1000)
def problems(name: str, spec: AgentRoleSpec) -> tuple[str, ...]:
    """All that is wrong with the AgentRole of this name, each with the field that it is in."""
    found = []
    if spec.prompt is None and name not in ROLES:
        found.append("prompt: only a built-in role has a text of its own")
    if spec.prompt is not None:
        found += [f"prompt: {each}" for each in template.problems(spec.prompt)]
    if spec.task_prompt is not None:
        told = template.problems(spec.task_prompt, needs=template.TASK_DESCRIPTION)
        found += [f"taskPrompt: {each}" for each in told]
    return tuple(found)


def clamped(spec: AgentRoleSpec) -> str:
    """What is taken otherwise than it says; "": nothing."""
    asked = spec.max_tasks_per_session
    if asked is None or asked <= MOST_TASKS:
        return ""
    why = "a session is one attempt of one Task"
    return f"maxTasksPerSession: {asked} is taken as {MOST_TASKS}: {why}"


def status_of(role: AgentRole, now: datetime, model_unknown: str = "") -> AgentRoleStatus:
    """The status of the AgentRole. `model_unknown`: that Projects beside it do not know its model,
    which keeps those of their Tasks back that name none; ""."""
    name, spec = role.metadata.name, role.spec
    found = problems(name, spec)
    status = role.status.model_copy(
        update={
            "observed_generation": role.metadata.generation,
            "overrides": name in ROLES,
            "effective": None if found else _effective(spec),
        }
    )
    if not found:
        status = note(status, ConditionType.VALIDATED, True, "Valid", clamped(spec), now)
        left = drop(status.conditions, ConditionType.STALLED)
        return _with_model(status.model_copy(update={"conditions": left}), model_unknown, now)
    status = _with_model(status, "", now)
    text = f"{_listed(found)}. Remedy: {_CORRECT}"
    for kind, truth in ((ConditionType.VALIDATED, False), (ConditionType.STALLED, True)):
        status = note(status, kind, truth, Reason.ROLE_INVALID, text, now)
    return status


def _with_model(status: AgentRoleStatus, unknown: str, now: datetime) -> AgentRoleStatus:
    """With the condition that warns of it, or without."""
    kind, reason = ConditionType.MODEL_NOT_KNOWN, Reason.MODEL_NOT_FOUND
    if unknown:
        return note(status, kind, True, reason, f"{unknown}: {_MODEL_WAITS}", now)
    return status.model_copy(update={"conditions": drop(status.conditions, kind)})


def _effective(spec: AgentRoleSpec) -> EffectiveRole:
    return EffectiveRole(model=None if spec.model == _AUTO else spec.model, effort=spec.effort)


def _listed(found: tuple[str, ...]) -> str:
    """As many as have room, and how many more there are."""
    lines, room = list[str](), _LISTED
    for number, each in enumerate(found):
        room -= len(each) + 1
        if room < 0:
            return "\n".join([*lines, f"… and {len(found) - number} more"])
        lines.append(each)
    return "\n".join(lines)
