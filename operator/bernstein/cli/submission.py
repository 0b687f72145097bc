"""A Plan of a file brought into the cluster: made, or compared with the one that is there.

What a running Plan may change is changed, as the file says it; anything else is refused, since a
Plan of another name pays for all of its work once more.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic.alias_generators import to_camel, to_snake

from bernstein.api.approvals.policy import ApprovalPolicy
from bernstein.api.plan import CHANGEABLE, Plan, PlanSpec
from bernstein.api.plan import parse as parse_plan
from bernstein.cli.cluster import Cluster
from bernstein.cli.errors import CliError
from bernstein.cli.output import asked
from bernstein.cli.output.terminal import Terminal
from bernstein.cli.requests import author_name
from bernstein.core.approvals.policy import tightened
from bernstein.core.names import NAME_LIMIT
from bernstein.core.plans.standstill import is_at_rest
from bernstein.kube.errors import AlreadyExists
from bernstein.kube.resource import Object
from bernstein.resources import PLANS

_NO_WORK = ("approval", "author", "suspend", "cancel", "requests")
"""What asks for no work: of these a file says the approval at most."""
_SHOWN = 10
"""Fields that a message names."""
_CHANGEABLE = {to_snake(name): name for name in CHANGEABLE if name not in _NO_WORK}
_GONE = ("Succeeded", "Cancelled", "DeliveredPartially")
"""Phases in which nothing that a Plan says has an effect any more."""


async def submit(terminal: Terminal, cluster: Cluster, plan_object: Object) -> Plan:
    """The Plan as it is in the cluster: made now, or made before, with what may change of it
    changed.

    Raises CliError where the Plan of that name asks for other work.
    """
    name = plan_object["metadata"]["name"]
    live = await cluster.plan_object(name)
    if live is None:
        try:
            created = parse_plan(
                await cluster.client.create(PLANS, await _signed(terminal, cluster, plan_object))
            )
        except AlreadyExists:
            live = await cluster.plan_object(name)
            if live is None:
                raise
        else:
            terminal.say(f"Plan '{name}' created in namespace '{cluster.namespace}'")
            return created
    if "deletionTimestamp" in live["metadata"]:
        raise CliError("BeingDeleted", f"Plan '{name}' is being deleted", "try again in a moment")
    return await _brought_up_to_date(terminal, cluster, parse_plan(live), plan_object)


async def _signed(terminal: Terminal, cluster: Cluster, plan_object: Object) -> Object:
    """The Plan with who makes it: where a policy says so, another one must approve it."""
    author = await author_name(terminal, cluster)
    return {**plan_object, "spec": {**plan_object["spec"], **author}}


async def _brought_up_to_date(
    terminal: Terminal, cluster: Cluster, plan: Plan, plan_object: Object
) -> Plan:
    wanted = PlanSpec.model_validate(plan_object["spec"])
    fields = list(differing(plan.spec, wanted))
    said = [field for field in fields if field in _CHANGEABLE and getattr(wanted, field)]
    policy = _tightened(plan, wanted)
    fixed = [field for field in fields if field not in _CHANGEABLE]
    if fixed and not _never_ran(plan):
        raise _other_content(plan, plan_object, fields)
    if fixed:
        plan = await _corrected(terminal, cluster, plan, plan_object, fields)
    elif (said or policy) and _takes_changes(plan):
        plan = await _changed(terminal, cluster, plan, plan_object, said)
    else:
        _tell_unchanged(terminal, plan, fields)
    _tell_stricter(terminal, plan, wanted)
    return plan


def _tightened(plan: Plan, wanted: PlanSpec) -> dict[str, object]:
    """What of the policy of the file is stricter than that of the Plan."""
    said = wanted.approval
    return tightened(plan.spec.approval or ApprovalPolicy(), said) if said is not None else {}


def _tell_stricter(terminal: Terminal, plan: Plan, wanted: PlanSpec) -> None:
    """Where the Plan asks people for more than the file, which stays so."""
    said, live = wanted.approval, plan.spec.approval or ApprovalPolicy()
    if said is None:
        return
    for field in sorted(said.model_fields_set):
        if field == "above_usd" and live.plan != said.plan:
            continue  # `plan` says it
        if getattr(live, field) != getattr(said, field):
            stays = f"approval.{field} stays {_plain(getattr(live, field))}"
            terminal.advise(f"{stays}: the policy of a Plan may only become stricter")


def _plain(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return "none" if value is None else str(value)


def differing(live: PlanSpec, wanted: PlanSpec) -> Iterator[str]:
    """The places at which they ask for other work, as a plan file names them."""
    return _differing("", _content(live), _content(wanted))


def _content(spec: PlanSpec) -> Mapping[str, Any]:
    content = spec.model_dump(mode="json", exclude=set(_NO_WORK))
    for stage in content.get("stages", ()):
        for step in stage["steps"]:
            step["title"] = step["title"] or step.pop("goal")
            step.pop("goal", None)
    return content


def _differing(path: str, live: Any, wanted: Any) -> Iterator[str]:
    if live == wanted:
        return
    if isinstance(live, dict) and isinstance(wanted, dict):
        for key in live:
            yield from _differing(f"{path}.{key}" if path else key, live[key], wanted[key])
    elif isinstance(live, list) and isinstance(wanted, list) and len(live) == len(wanted):
        for index, pair in enumerate(zip(live, wanted, strict=True)):
            yield from _differing(f"{path}[{index}]", *pair)
    else:
        yield path


def _never_ran(plan: Plan) -> bool:
    """Whether it was refused before anything was made of it: then all of it may be corrected."""
    return plan.status.phase == "Invalid" and not plan.status.expanded and not plan.spec.cancel


def _takes_changes(plan: Plan) -> bool:
    return plan.spec.cancel is None and plan.status.phase not in _GONE


async def _corrected(
    terminal: Terminal, cluster: Cluster, plan: Plan, plan_object: Object, fields: list[str]
) -> Plan:
    """An Invalid Plan with the content of the file. It never ran: nothing is paid for twice."""
    dropped = plan.spec.dump().keys() - plan_object["spec"].keys() - set(_NO_WORK)
    content = {key: value for key, value in plan_object["spec"].items() if key != "approval"}
    spec = dict.fromkeys(dropped) | content | _policy_patch(plan, plan_object)
    spec |= await author_name(terminal, cluster)  # whoever writes its content is its author
    corrected = await _patched(cluster, plan_object, spec)
    terminal.say(f"Plan '{plan.metadata.name}' was Invalid and is corrected: {_named(fields)}")
    return corrected


async def _changed(
    terminal: Terminal, cluster: Cluster, plan: Plan, plan_object: Object, fields: list[str]
) -> Plan:
    spec = {_CHANGEABLE[field]: plan_object["spec"][_CHANGEABLE[field]] for field in fields}
    changed = await _patched(cluster, plan_object, spec | _policy_patch(plan, plan_object))
    each = [f"{f} {_shown(plan, f)} → {_shown(changed, f)}" for f in fields]
    each += _told_policy(plan, changed)
    terminal.say(f"Plan '{plan.metadata.name}' changed: {', '.join(each)}")
    return changed


def _policy_patch(plan: Plan, plan_object: Object) -> dict[str, Any]:
    """What to write of the policy: what the file makes stricter. What it does not say stays."""
    changes = _tightened(plan, PlanSpec.model_validate(plan_object["spec"]))
    stricter = {to_camel(field): value for field, value in changes.items()}
    return {"approval": stricter} if stricter else {}


def _told_policy(before: Plan, after: Plan) -> list[str]:
    """What has changed of the policy."""
    old, new = (plan.spec.approval or ApprovalPolicy() for plan in (before, after))
    return [
        f"approval.{field} {_plain(getattr(old, field))} → {_plain(getattr(new, field))}"
        for field in ApprovalPolicy.model_fields
        if getattr(old, field) != getattr(new, field)
    ]


async def _patched(cluster: Cluster, plan_object: Object, spec: Mapping[str, Any]) -> Plan:
    name, noted = plan_object["metadata"]["name"], plan_object["metadata"]["annotations"]
    body = {"metadata": {"annotations": noted}, "spec": spec}
    return parse_plan(await cluster.client.patch(PLANS, name, cluster.namespace, body))


def _shown(plan: Plan, field: str) -> str:
    value = getattr(plan.spec, field)
    if value is None:
        return "none"
    return f"${value}" if field == "budget" else str(value)


def _tell_unchanged(terminal: Terminal, plan: Plan, fields: list[str]) -> None:
    """Why nothing of it was changed, and how it stands."""
    name, phase = plan.metadata.name, plan.status.phase
    again = f"run this as new work under another name: --name {another_name(name)}"
    ended = plan.status.ended_at is not None
    if plan.spec.cancel is not None and not ended:
        terminal.say(f"Plan '{name}' unchanged: it is being cancelled")
        terminal.advise(f"once it has ended, {again}")
        return
    state = "stands still" if is_at_rest(plan) else "is running"
    if helps := asked.remedy(plan):
        state = terminal.settings.placed(f"waits for a person, who must {helps}")
    state = f"has ended ({phase})" if ended else state
    terminal.say(f"Plan '{name}' unchanged: it has this content and {state}")
    if ended and phase in _GONE:
        terminal.advise(again)
        return
    for field in fields:
        terminal.advise(f"{field} stays {_shown(plan, field)}: the file says none")


def _other_content(plan: Plan, plan_object: Object, fields: list[str]) -> CliError:
    name = plan.metadata.name
    text = f"there is a Plan '{name}' with other content ({_named(fields)})"
    return CliError("PlanExists", text, _what_helps(plan, plan_object, fields))


def _what_helps(plan: Plan, plan_object: Object, fields: list[str]) -> str:
    """What to do instead; first what costs nothing."""
    name = plan.metadata.name
    anew = f"--name {another_name(name)}"
    if plan.status.phase in _GONE and plan.status.ended_at is not None:
        return f"it has ended ({plan.status.phase}): run this as new work with {anew}"
    helps = ["nothing was changed: its work is fixed once it is applied"]
    spec = {_CHANGEABLE[f]: plan_object["spec"].get(_CHANGEABLE[f]) for f in fields
            if f in _CHANGEABLE}  # fmt: skip
    if spec:
        patch = f"kubectl patch bplan {name} --type merge -p '{json.dumps({'spec': spec})}'"
        which = " and ".join(field for field in fields if field in _CHANGEABLE)
        helps.append(f"to change {which} alone: `{patch}`")
    helps.append(f"to see how it stands: `bernstein status {name}`")
    if plan.status.counts.failed:
        helps.append(f"to give what failed another round: `bernstein retry {name}`")
    first = "" if plan.status.ended_at is not None else f", after `bernstein cancel {name}`"
    helps.append(f"to pay for all of it once more, as a new Plan: {anew}{first}")
    return "; ".join(helps)


def another_name(name: str) -> str:
    """A name that a second Plan of the same content may have."""
    return f"{name[: NAME_LIMIT - 2]}-2"


def _named(fields: list[str]) -> str:
    """Their names; a Project is no field of a file."""
    shown = ["--project" if field == "project_ref" else field for field in fields[:_SHOWN]]
    more = f" and {len(fields) - _SHOWN} more" if len(fields) > _SHOWN else ""
    return ", ".join(shown) + more
