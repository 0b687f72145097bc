"""The CRDs as a real API server takes them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bernstein import crds
from bernstein.api import older
from bernstein.api.project import parse
from bernstein.api.task import Task
from bernstein.controllers.jobs.pod import their_resources
from bernstein.kube.client import Client
from bernstein.kube.errors import Invalid
from bernstein.kube.resource import JOBS
from tests.control_plane.api.samples import largest
from tests.control_plane.conftest import Tools
from tests.control_plane.objects import KINDS, job, valid
from tests.unit.docs.pages import ROOT

INITIAL = {"Task": "Open", "AgentSession": "Starting", "Approval": "Pending"}
WRITERS = dict.fromkeys(("Project", "Plan", "Task", "AgentRole"), "admin") | dict.fromkeys(
    ("AgentSession", "Approval"), "operator"
)
DECISION = ("decision", "decidedBy", "reason")
"""Nobody makes an Approval that has these."""


@pytest.fixture(params=sorted(KINDS))
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def writer(request: pytest.FixtureRequest, admin: Client, operator: Client, kind: str) -> Client:
    return {"admin": admin, "operator": operator}[WRITERS[kind]]


async def test_a_smallest_object_of_every_kind_is_taken(
    writer: Client, namespace: str, kind: str
) -> None:
    made = await writer.create(KINDS[kind], valid(kind, namespace))

    assert made["metadata"]["generation"] == 1


@pytest.mark.parametrize("others", [("workflow", "changes", "produces"), ("stages", "subtasks")])
async def test_all_that_a_model_can_say_is_kept_and_read_again(
    writer: Client, operator: Client, namespace: str, user: str, kind: str, others: tuple[str, ...]
) -> None:
    """Either of these stands in the spec of a Plan, or of a Task."""
    model = next(k.model for k in crds.KINDS if k.name == kind)
    schema = crds.object_schema(model)["properties"]
    full = valid(kind, namespace, **largest(schema["spec"]))
    for other in others:
        full["spec"].pop(other, None)
    for request in full["spec"].get("requests", ()):
        request["by"] = user
    if "author" in full["spec"]:
        full["spec"]["author"] = user
    if "cancel" in full["spec"]:
        full["spec"]["cancel"]["by"] = user
    if kind == "Approval":
        full["spec"] = {name: v for name, v in full["spec"].items() if name not in DECISION}
    await writer.create(KINDS[kind], full)
    status = largest(schema["status"]) | {"state": None}
    if kind in INITIAL:
        status["state"] = INITIAL[kind]
    status = {name: value for name, value in status.items() if value is not None}

    served = await operator.patch(
        KINDS[kind], "one", namespace, {"status": status}, subresource="status"
    )

    assert served["spec"] == full["spec"]
    assert served["status"] == status
    read: Any = model.model_validate(served)
    assert read.spec.dump() == full["spec"]
    # What older releases called why it waits is read, but never written again.
    assert read.status.dump() == older.of_today(status)


async def test_a_new_object_does_not_count_as_reconciled(
    writer: Client, namespace: str, kind: str
) -> None:
    made = await writer.create(KINDS[kind], valid(kind, namespace))

    born = {"state": INITIAL[kind]} if kind in ("Task", "AgentSession") else {}
    assert made["status"] == {"observedGeneration": -1} | born


async def test_spelling_out_a_default_changes_nothing(admin: Client, namespace: str) -> None:
    made = await admin.create(KINDS["Plan"], valid("Plan", namespace))
    spelled = {"suspend": False, "constraints": [], "contextFiles": []}

    again = await admin.patch(KINDS["Plan"], "one", namespace, {"spec": spelled})

    assert again["metadata"]["generation"] == made["metadata"]["generation"]
    assert again["spec"] == made["spec"]


async def test_defaults_below_an_absent_object_are_filled_in(admin: Client, namespace: str) -> None:
    made = await admin.create(KINDS["Project"], valid("Project", namespace))

    assert made["spec"]["limits"]["timeoutSeconds"]["medium"] == 5400
    assert made["spec"]["gates"] == {
        "allowBaseFailures": False,
        "allowBypass": False,
        "cacheEnabled": True,
        "crossModel": {
            "enabled": False,
            "maxDiffCharacters": 12000,
            "maxTokens": 512,
            "onIssues": "Block",
            "quorum": 1,
            "reviewers": [],
        },
        "enabled": True,
        "execution": "Parallel",
        "maxParallel": 8,
        "timeoutSeconds": 120,
        "pipeline": [],
    }


async def test_the_least_that_a_project_may_grant_is_enough_for_its_jobs(
    admin: Client, operator: Client, namespace: str
) -> None:
    """A Job whose container requests more than its limit would be refused."""
    least = {"cpu": "50m", "memory": "16Mi", "ephemeralStorage": "64Mi"}
    toolchain = {"image": "toolchain:dev", "resources": least}
    made = await admin.create(KINDS["Project"], valid("Project", namespace, toolchain=toolchain))
    wanted = job(namespace)
    (container,) = wanted["spec"]["template"]["spec"]["containers"]
    container["resources"] = their_resources(parse(made).spec.toolchain.resources)

    taken = await operator.create(JOBS, wanted)

    (container,) = taken["spec"]["template"]["spec"]["containers"]
    assert container["resources"]["limits"]["memory"] == "16Mi"


async def test_status_cannot_be_smuggled_in_with_the_object(admin: Client, namespace: str) -> None:
    smuggled = valid("Task", namespace) | {"status": {"state": "Closed"}}

    made = await admin.create(KINDS["Task"], smuggled)

    assert made["status"] == {"observedGeneration": -1, "state": "Open"}


async def test_two_stages_of_one_name_are_refused(admin: Client, namespace: str) -> None:
    stage = {"name": "build", "steps": [{"title": "t"}]}

    with pytest.raises(Invalid, match="Duplicate value"):
        await admin.create(KINDS["Plan"], valid("Plan", namespace, stages=[stage, stage]))


async def test_the_largest_plan_fits_the_cost_limits_of_its_rules(
    admin: Client, namespace: str
) -> None:
    step = {
        "title": "t",
        "files": [f"src/package/module_{i}/file_{i}.py" for i in range(20)],
        "completionSignals": [{"type": "path_exists", "path": f"docs/{i}.md"} for i in range(2)],
    }
    stages = [{"name": f"stage {i}", "steps": [step] * 50} for i in range(20)]
    plan = valid("Plan", namespace, stages=stages)
    assert 800_000 < len(json.dumps(plan)) < 1_500_000

    made = await admin.create(KINDS["Plan"], plan)

    assert len(made["spec"]["stages"]) == 20


def test_every_column_of_kubectl_get_is_there(tools: Tools, namespace: str, kind: str) -> None:
    columns = next(k.columns for k in crds.KINDS if k.name == kind)
    who = "--as=system:serviceaccount:bernstein-system:bernstein-operator"
    author = [who] if WRITERS[kind] == "operator" else []
    tools.kubectl("create", *author, "-f-", stdin=json.dumps(valid(kind, namespace)))
    wide = tools.kubectl("get", KINDS[kind].plural, "-n", namespace, "-o", "wide")

    header = wide.splitlines()[0].split()
    assert header == ["NAME", *(c.name.upper() for c in columns)]


@pytest.mark.parametrize(
    ("kind", "conditions", "shown"),
    [
        ("Task", {"Verified": "SignalFailed", "Reconciling": "MaxAgents"}, "MaxAgents"),
        ("Task", {"Succeeded": "GateFailed", "Stalled": "TaskFailed"}, "TaskFailed"),
        ("Plan", {"Validated": "Valid", "Succeeded": "Cancelled"}, "Cancelled"),
        ("Plan", {"Validated": "Valid", "Suspended": "Suspended"}, "Suspended"),
        ("Approval", {"Succeeded": "SentBack"}, "SentBack"),
        ("Project", {"Ready": "Accepted", "RefsNotDeleted": "NoRoom"}, "RefsNotDeleted"),
    ],
)
async def test_kubectl_get_says_why_of_the_first_condition_that_there_is(
    tools: Tools,
    writer: Client,
    operator: Client,
    namespace: str,
    kind: str,
    conditions: dict[str, str],
    shown: str,
) -> None:
    await writer.create(KINDS[kind], valid(kind, namespace))
    since = {"status": "True", "message": "", "lastTransitionTime": "2030-01-01T00:00:00Z"}
    said = [{"type": each, "reason": why, **since} for each, why in conditions.items()]
    status = {
        "status": {"conditions": said} | ({"state": INITIAL[kind]} if kind in INITIAL else {})
    }
    await operator.patch(KINDS[kind], "one", namespace, status, subresource="status")

    table = tools.kubectl("get", KINDS[kind].plural, "-n", namespace, "-o", "wide")

    assert shown in table.splitlines()[1].split()


def test_one_command_shows_objects_of_all_kinds(tools: Tools, chart: None) -> None:
    listed = tools.kubectl("api-resources", "--categories=bernstein", "-o", "name").split()

    assert sorted(listed) == sorted(f"{r.plural}.{r.group}" for r in KINDS.values())


def test_a_budget_with_cents_and_without_quotes_is_refused_as_the_page_says(
    tools: Tools, chart: None
) -> None:
    plan = valid("Plan", "default", "cents")
    plan["spec"]["budget"] = 4.5

    refused = tools.run("kubectl", "apply", "--dry-run=server", "-f-", stdin=json.dumps(plan))

    assert 'must be of type integer,string: "number"' in refused.stderr
    assert (
        'must be of type integer,string: "number"' in (ROOT / "docs/reference/plan.md").read_text()
    )


def test_a_refusal_reads_well_in_kubectl(tools: Tools, chart: None) -> None:
    rules = crds.object_schema(Task)["properties"]["spec"]["properties"]["completionSignals"]
    needed = rules["items"]["x-kubernetes-validations"][0]["message"]
    signal = {"type": "path_exists"}
    step = {"goal": "g", "title": "t", "files": ["../x"], "completionSignals": [signal]}
    bad = valid("Plan", "default", "bad", stages=[{"name": "s", "steps": [step]}])

    refused = tools.run("kubectl", "apply", "--dry-run=server", "-f-", stdin=json.dumps(bad))

    assert refused.returncode == 1
    assert sorted(line.strip("* ") for line in refused.stderr.strip().splitlines()) == [
        'The Plan "bad" is invalid:',
        f"spec.stages[0].steps[0].completionSignals[0].path: Required value: {needed}",
        'spec.stages[0].steps[0].files[0]: Invalid value: "string": '
        "a path is relative to the repository and may not leave it",
        'spec.stages[0].steps[0]: Invalid value: "object": '
        "'title' and 'goal' are the same field: give one of them",
    ]
