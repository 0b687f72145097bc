"""The CEL rules of the CRDs with examples: for each what it lets through and what it refuses."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from bernstein import crds
from bernstein.checks import gates
from bernstein.kube.resource import Object
from tests.control_plane.api import registry_pairs
from tests.control_plane.api.pod_rules import PODS
from tests.control_plane.api.registry_pairs import Pair
from tests.control_plane.api.repository_rules import BRANCHES, REPOSITORIES
from tests.control_plane.api.role_rules import ROLES
from tests.control_plane.objects import JUDGE, WORKFLOW, valid

IMMUTABLE = "the field is immutable"
ONE_WAY = "cannot be changed or taken back"
STATE = "IllegalTransition"
"""Rules on state have their own tests, pair by pair: test_states.py."""
REQUESTS = "a request "
"""Rules on requests have their own tests: test_requests.py."""


DECISIONS = (
    "whoever lets work go on without a gate says why",
    "it is decided already",
    "decision and decidedBy are written together",
    "a reason is written together with its decision",
    "the author may not decide",
    "only the work of a Task can be sent back",
    "nothing is left to decide",
    "the policy of a Plan may only become stricter",
)
"""Rules on people's decisions have their own tests: test_approvals.py."""
AUTHOR = "the field is written once"
"""In one's own name: see the chart's tests of approvals."""


@dataclass(frozen=True)
class Rule:
    """One entry of x-kubernetes-validations; `path` is where it stands, such as `spec.files[]`."""

    kind: str
    path: str
    field: str
    message: str
    schema: dict[str, Any]

    def __str__(self) -> str:
        return f"{self.kind}:{self.path}{self.field}: {self.message}"


def rules() -> list[Rule]:
    return [
        _rule(kind.name, path, entry, schema)
        for kind in crds.KINDS
        for path, schema in _nodes(crds.object_schema(kind.model), "")
        for entry in schema.get("x-kubernetes-validations", ())
    ]


def _rule(kind: str, path: str, entry: dict[str, str], schema: dict[str, Any]) -> Rule:
    """One about a field of the spec that also looks at the status stands at the root."""
    field = entry.get("fieldPath", "")
    if not path and field.startswith(".spec."):
        path, field, schema = "spec", field.removeprefix(".spec"), schema["properties"]["spec"]
    return Rule(kind, path, field, entry["message"], schema)


def _nodes(schema: dict[str, Any], path: str) -> Iterator[tuple[str, dict[str, Any]]]:
    yield path, schema
    for name, child in schema.get("properties", {}).items():
        yield from _nodes(child, f"{path}.{name}".lstrip("."))
    if "items" in schema:
        yield from _nodes(schema["items"], f"{path}[]")


def on_forge() -> dict[str, Any]:
    """The spec of a Project whose repository is on a forge."""
    spec: dict[str, Any] = valid("Project", "")["spec"]
    token = {"name": "forge", "key": "token"}
    repositories = [{**r, "forge": {"type": "gitea", "token": token}} for r in spec["repositories"]]
    return {**spec, "repositories": repositories}


PATHS = {
    "a path is relative to the repository and may not leave it": Pair(
        "app/[...slug]/a..b.tsx",
        ("/etc/passwd", "..", "../x", "a/../../x", "a/..", "/"),
    )
}
STAGES = [{"name": "build", "steps": [{"title": "t"}]}]
STEPS = {
    "step must have a 'title' or 'goal' field": Pair({"goal": "g"}, ({"role": "qa"},)),
    "'title' and 'goal' are the same field: give one of them": Pair(
        {"title": "t"}, ({"title": "t", "goal": "g"},)
    ),
}
WORKFLOWS = {
    "give either 'stages' or 'workflow'": Pair(
        {"name": "n", "workflow": WORKFLOW},
        ({"name": "n"}, {"name": "n", "workflow": WORKFLOW, "stages": STAGES}),
    ),
    "every node must name one of the phases": Pair(
        WORKFLOW, ({**WORKFLOW, "nodes": [{"name": "limiter", "phase": "Build"}]},)
    ),
}
OWN_GATE = {"command": "audit .", "image": "i"}
GATES = {
    "the operator's own Jobs are called begin, inspect, land, prepare, propose, listen: "
    "give the gate another name": Pair(
        {"name": "landing", **OWN_GATE},
        tuple({"name": n, **OWN_GATE} for n in ("begin", "land", "propose", "listen")),
    ),
    "signal_<number> is kept for completion signals: give the gate another name": Pair(
        {"name": "signal_a1", **OWN_GATE},
        ({"name": "signal_0", **OWN_GATE}, {"name": "signal_12", **OWN_GATE}),
    ),
}
EXPRESSION = {"type": "file_contains", "path": "a", "contains": "é" * 1024, "regex": True}
TEXT = {"type": "file_contains", "path": "a", "contains": "é" * 1024}
EXPRESSIONS = {
    "the regular expressions of a Task have at most 8192 characters together": Pair(
        [EXPRESSION] * 8 + [TEXT] * 12, ([*[EXPRESSION] * 8, EXPRESSION | {"contains": "e"}],)
    )
}


def _gated(pipeline: list[Object], **spec: Any) -> Object:
    """The specification of a Project with these gates."""
    given = {"gates": {"pipeline": pipeline}, "models": [{**JUDGE}], **spec}
    found: Object = valid("Project", "", **given)["spec"]
    return found


def _reviewed(asks: Object, **spec: Any) -> Object:
    """The specification of a Project whose changes are reviewed so."""
    return _gated([], gates={"crossModel": asks}, **spec)


def _and_another(**more: Any) -> Object:
    """The specification of a Project with a second repository, as the first but for this."""
    spec: Object = valid("Project", "")["spec"]
    (first,) = spec["repositories"]
    first = {"branch": "main", **first}
    return {**spec, "repositories": [first, {**first, "name": "another", **more}]}


SPECS = {
    "two repositories have the same url and branch": Pair(
        _and_another(branch="release"), (_and_another(),)
    ),
    "merge.strategy pr opens pull requests: say where, in forge of the repository": Pair(
        {**on_forge(), "merge": {"strategy": "pr"}},
        ({**valid("Project", "")["spec"], "merge": {"strategy": "pr"}},),
    ),
    "only strategy pr takes 'pullRequest'": Pair(
        {"strategy": "direct"}, ({"strategy": "direct", "pullRequest": {"draft": True}},)
    ),
    "only strategy direct takes 'merge.per': pull requests have 'pullRequest.per'": Pair(
        {**on_forge(), "merge": {"strategy": "direct", "per": "Task"}},
        ({**on_forge(), "merge": {"strategy": "pr", "per": "Task"}},),
    ),
    "'publicKey' is another key of the Secret than the private SSH key": Pair(
        {"key": {"name": "signs", "key": "id"}, "publicKey": "id.pub"},
        ({"key": {"name": "signs", "key": "id"}, "publicKey": "id"},),
    ),
    "somebody signs off: name the 'author' or the 'committer'": Pair(
        {"signOff": True, "committer": {"name": "A", "email": "a@example.com"}},
        ({"signOff": True},),
    ),
    "a name neither begins nor ends with a space, a quote or one of . , : ; \\": Pair(
        {"name": "A. O'Neil: \\, b", "email": "a@example.com"},
        tuple(
            {"name": name, "email": "a@example.com"}
            for name in ("A.", " A", "'A", 'A"', "A\\", ",", ":A", "A;")
        ),
    ),
    "per Task waits until they are merged: Tasks need the code of those before them": Pair(
        {"per": "Task", "succeedOn": "Merged"}, ({"per": "Task", "succeedOn": "Opened"},)
    ),
    "what is said of a pull request goes back to agents only where succeedOn is Merged": Pair(
        {"per": "Plan", "succeedOn": "Merged", "feedback": ["CI"]},
        ({"per": "Plan", "succeedOn": "Opened", "feedback": ["CI"]},),
    ),
    "with maxUpdates 0 nothing that is pushed is ever verified": Pair(
        {"onNewCommits": "Verify", "maxUpdates": 1}, ({"onNewCommits": "Verify", "maxUpdates": 0},)
    ),
    "knowledge has either 'configMap' or 'path'": Pair(
        {"name": "rules", "path": "docs/rules.md"},
        (
            {"name": "rules"},
            {"name": "rules", "path": "a", "configMap": {"name": "rules", "key": "a"}},
        ),
    ),
    "defaultAgent is not one of agents": Pair(
        valid("Project", "", defaultAgent="demo")["spec"],
        (valid("Project", "", defaultAgent="codex")["spec"],),
    ),
    "intent_verification, integration_test_gen, review_rubric and test_expansion ask a model: the "
    "Project needs one in models": Pair(
        _gated([{"name": "review_rubric", "enabled": False}], models=[]),
        tuple(_gated([{"name": name}], models=[]) for name in gates.that_need_a_model())
        + tuple(_gated([{"name": n, "command": "true"}], models=[]) for n in gates.that_write()),
    ),
    "a gate's 'model' is the name of one of models": Pair(
        _gated([{"name": "review_rubric", "model": JUDGE["name"]}]),
        (_gated([{"name": "review_rubric", "model": "nobody"}]),),
    ),
    "gates.crossModel asks a model: the Project needs one in models": Pair(
        _reviewed({"enabled": True}),
        (_reviewed({"enabled": True}, models=[]),),
    ),
    "'reviewers' are names of models": Pair(
        _reviewed({"enabled": True, "reviewers": [JUDGE["name"]]}),
        (
            _reviewed({"enabled": True, "reviewers": [JUDGE["name"], "nobody"]}),
            _reviewed({"reviewers": ["nobody"]}),
        ),
    ),
}
REVIEWS = {
    "'quorum' is at most the number of reviewers": Pair(
        {"quorum": 1, "reviewers": [JUDGE["name"]]},
        ({"quorum": 2, "reviewers": [JUDGE["name"]]}, {"quorum": 2}),
    )
}
_SIGNS = {"key": {"name": "signs", "key": "key.pem"}}
KEYS = {
    "'publicKey' is another key of the Secret than the private one": Pair(
        {**_SIGNS, "publicKey": "key.pub"}, ({**_SIGNS, "publicKey": "key.pem"},)
    )
}

DIGEST = f"sha256:{'0a' * 32}"
IMAGES = (
    "agent",
    "agent:v1.2_RC-1",
    f"agent@{DIGEST}",
    "team-a/my_app/tool.chain__x--y:1",
    "registry.example.com/agent",
    f"Registry.Example.COM:5000/team/agent:dev@{DIGEST}",
    "localhost:5000/agent",
    "192.0.2.1/agent",
    "[2001:db8::1]:5000/agent",
    f"agent@sha512:{'0' * 128}",
)
NO_IMAGES = (
    "bad image!!",
    "agent:dev ",
    "Agent",
    "REG/Upper",
    "https://registry.example.com/agent",
    "agent:",
    "agent:a:b",
    f"agent:{'a' * 129}",
    "agent@sha256:0a",
    "/agent",
    "agent/",
    "team//agent",
    "_agent",
    "registry.example.com:port/agent",
)
CONTAINERS = {
    "an image is [registry[:port]/]path[:tag][@digest], with lower-case letters, digits, '.', '_' "
    "and '-' in the path": Pair(IMAGES[0], NO_IMAGES),
    "at least 50m": Pair("0.05", ("0", "0m", "49m", "0.049")),
    "at least 16Mi": Pair("16384Ki", ("0Gi", "1Ki", "15Mi", "16383Ki")),
    "at least 64Mi": Pair("64Mi", ("0Gi", "63Mi", "65535Ki")),
}

PROXY = {"url": "http://proxy.example.com:3128"}
ANYWHERE = [{"ports": [{"port": 443}]}]
NETWORKS = {
    f"policy Unmanaged takes no '{field}'": Pair(
        {"policy": "Managed", field: ANYWHERE}, ({"policy": "Unmanaged", field: ANYWHERE},)
    )
    for field in ("git", "checks", "agents", "models", "forge")
} | {
    "policy Unmanaged takes no 'proxy.peers'": Pair(
        {"policy": "Unmanaged", "proxy": PROXY},
        ({"policy": "Unmanaged", "proxy": PROXY | {"peers": [{"podSelector": {}}]}},),
    )
}
PEERS = {
    "a peer is an ipBlock, or has a podSelector, a namespaceSelector or both": Pair(
        {"podSelector": {"matchLabels": {"app": "git"}}, "namespaceSelector": {}},
        ({}, {"ipBlock": {"cidr": "192.0.2.0/24"}, "podSelector": {}}),
    ),
    "every part that is not meant lies within cidr, and is smaller": Pair(
        {"cidr": "192.0.2.0/24", "except": ["192.0.2.0/25", "192.0.2.200/32"]},
        (
            {"cidr": "192.0.2.0/24", "except": ["192.0.2.0/24"]},
            {"cidr": "192.0.2.0/24", "except": ["192.0.2.1/32", "198.51.100.0/25"]},
            {"cidr": "192.0.2.0/24", "except": ["192.0.0.0/16"]},
            {"cidr": "192.0.2.0/24", "except": ["2001:db8::/64"]},
        ),
    ),
    "names of labels are letters, digits, '-', '_' and '.', with a prefix before a '/'": Pair(
        {"app.kubernetes.io/name": "git", "Tier_1": ""},
        ({"a b": "x"}, {"/a": "x"}, {"a/b/c": "x"}, {"-a": "x"}),
    ),
    "endPort is the last of the ports that begin with port": Pair(
        {"port": 8000, "endPort": 8000}, ({"port": 8000, "endPort": 7999},)
    ),
}


def _name(limit: int) -> dict[str, Pair]:
    text = f"metadata.name has at most {limit} characters: lower-case letters, digits and '-'"
    good = valid("Task", "", "a" * (limit - 2) + "-1")["metadata"]
    return {text: Pair(good, ({**good, "name": "a" * (limit + 1)}, {**good, "name": "a.b"}))}


PRODUCES = {
    "a Task that produces a Plan changes no file: it says `changes: none`": Pair(
        {"title": "x", "produces": {"plan": {}}, "changes": "none"},
        ({"title": "x", "produces": {"plan": {}}},),
    )
}
SPLITS = {
    "what is split is expected to change something: its subtasks do": Pair(
        {"title": "x", "subtasks": [{"title": "y"}]},
        ({"title": "x", "subtasks": [{"title": "y"}], "changes": "none"},),
    )
}
POLICIES = {
    "aboveUsd goes with plan: AboveCost, and only with that": Pair(
        {"plan": "AboveCost", "aboveUsd": 5}, ({"plan": "AboveCost"}, {"aboveUsd": "5.50"})
    )
}

PAIRS: dict[str, Pair] = {
    **POLICIES,
    **PRODUCES,
    **SPLITS,
    **registry_pairs.pairs(),
    **PATHS,
    **STEPS,
    **WORKFLOWS,
    **GATES,
    **BRANCHES,
    **REPOSITORIES,
    **CONTAINERS,
    **SPECS,
    **REVIEWS,
    **KEYS,
    **EXPRESSIONS,
    **NETWORKS,
    **PEERS,
    **PODS,
    **ROLES,
    **_name(40),
    **_name(63),
}

RULES = rules()
OTHERS = (IMMUTABLE, ONE_WAY, STATE, REQUESTS, AUTHOR, *DECISIONS)
STATIC = [r for r in RULES if not r.message.startswith(OTHERS)]
FIXED = [r for r in RULES if r.message.startswith(IMMUTABLE)]
KEPT = [r for r in RULES if r.message.startswith(ONE_WAY)]


_BESIDE: Mapping[str, Object] = {
    "completionSignals[].path": {"type": "path_exists"},
    "completionSignals[].value": {"type": "glob_exists"},
    "knowledge[].path": {"name": "rules"},
}
"""What an object must say beside the field where a rule stands."""


def placed(rule: Rule, namespace: str, value: Any) -> Object:
    """A valid object that has this value where the rule stands; a gate has a model to ask."""
    asks = any(part in rule.path for part in ("pipeline", "crossModel"))
    models = {"models": [{**JUDGE}]} if asks else {}
    obj = valid(rule.kind, namespace, **models)
    if "workflow" in rule.path:
        obj = valid(rule.kind, namespace, workflow=copy.deepcopy(WORKFLOW))
    if "pullRequest" in rule.path:
        obj["spec"] |= {**on_forge(), "merge": {"strategy": "pr"}}
    if not rule.path:
        return {**obj, "metadata": {**obj["metadata"], **value, "namespace": namespace}}
    parts = rule.path.replace("[]", ".[]").split(".")
    last = parts[-1]
    place: Any = obj
    for part, following in pairwise(parts):
        place = _down(place, part, [] if following == "[]" else {})
    if last == "[]":
        place[:] = [copy.deepcopy(value)]
    else:
        place[last] = copy.deepcopy(value)
    for path, beside in _BESIDE.items():
        if rule.path.endswith(path):
            place |= beside
    _complete(rule, obj["spec"])
    return obj


def _complete(rule: Rule, spec: Any) -> None:
    """What the rest of the object must say where this rule stands."""
    if "network.proxy." in rule.path:
        spec["network"]["proxy"] |= PROXY
    if "spec.produces." in rule.path:
        spec["changes"] = "none"
    if "pipeline[]." in rule.path:
        spec["gates"]["pipeline"][0]["name"] = "lint"


def _down(place: Any, part: str, empty: Any) -> Any:
    if part != "[]":
        return place.setdefault(part, empty)
    if not place:
        place.append(empty)
    return place[0]
