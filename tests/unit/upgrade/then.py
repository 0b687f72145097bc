"""What today's code asks for and makes, as the older code did, where that differs on purpose."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

from bernstein.api.pod import (
    AGENT,
    AUDIENCE,
    CHECKOUT,
    INSPECT,
    LAND,
    PREPARE,
    PROBE,
    PRUNE,
    PUSHER,
    RECORDER,
)
from bernstein.checks import gates
from bernstein.checks.gate import Command, Gate
from bernstein.controllers.jobs.pod import mount, scratch
from bernstein.core import labels, names
from bernstein.core.actions import RunBegin, RunInspect, RunLand
from bernstein.core.prompts import parts
from tests.configuration import told

CONFIG_VARIABLE = "BERNSTEIN_CONFIG"
_LAUNCHER = "/control/launcher"
_REF = re.compile(r"(refs/bernstein/[^/]{8})[^/]*/")

_LINTER_FILES = (
    *("ruff.toml", ".ruff.toml", "pyproject.toml", "setup.cfg", ".flake8"),
    *(".eslintrc.json", ".eslintignore", ".gitignore", ".ignore"),
)
_LINT = Gate(
    name="lint",
    condition="always",
    default_on=True,
    runs=Command("ruff check --no-cache --no-respect-gitignore .", pinned=_LINTER_FILES),
)
_TESTS = Gate(
    name="tests",
    condition="python_changed",
    default_on=False,
    runs=Command("python3 -m pytest -q -p no:cacheprovider"),
)
_OTHERS = {gate.name: gate for gate in (_LINT, _TESTS)}
GATES = tuple(_OTHERS.get(gate.name, gate) for gate in gates.GATES)
"""The gates as older code asked for them: `lint` passed over folders and knew fewer files, and for
`tests` an exit code was enough. Verdicts of then are no answer to what they ask today: they are run
again."""
SILENCED: tuple[str, ...] = ()
"""Gates that brought the one for comments which silence them into a list without it."""


def asked_then(asked: Any) -> Any:
    """What asks for a Job, as the older code asked for it: fewer digits of a uid were in refs,
    whoever had made the integration ref was believed, and nothing was said of what landed."""
    match asked:
        case RunBegin():
            return replace(asked, integration=ref_then(asked.integration), again=False)
        case RunLand():
            return replace(asked, attests="")
        case RunInspect():
            return replace(asked, pinned_sha=None)
        case _:
            return asked


def session_then(obj: dict[str, Any]) -> dict[str, Any]:
    """A session as the older code made it: it had no price, was shown no rejected work, left
    nothing, and went on from whatever commit was at the ref of a checkpoint."""
    new = ("price", "rejected", "resumeSha", "documents")
    spec = {key: value for key, value in obj["spec"].items() if key not in new}
    uid = spec["taskRef"]["uid"]
    ref = spec["workRef"].replace(names.refs_of(uid), f"refs/bernstein/{uid[:8]}")
    return obj | {"spec": spec | {"workRef": ref}}


def policies_then(policies: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The NetworkPolicies that the older code made: it let others connect to its pods, tried no
    Project, looked up names anywhere, and reached the git server's port in the cluster, too."""
    return [_about_then(p) for p in policies if p["spec"]["policyTypes"] == ["Egress"]]


def _about_then(policy: dict[str, Any]) -> dict[str, Any]:
    """The policy without the Jobs that the older code did not have."""
    spec = policy["spec"]
    (jobs,) = spec["podSelector"]["matchExpressions"]
    known = jobs | {"values": [job for job in jobs["values"] if job not in (PROBE, PRUNE)]}
    selector = spec["podSelector"] | {"matchExpressions": [known]}
    dns, *others = spec["egress"]
    anywhere = [{"ports": rule["ports"]} if _outside(rule) else rule for rule in others]
    egress = [{"ports": dns["ports"]}, *anywhere]
    return policy | {"spec": spec | {"podSelector": selector, "egress": egress}}


def _outside(rule: dict[str, Any]) -> bool:
    return any(peer.get("ipBlock", {}).get("cidr") == "::/0" for peer in rule.get("to", ()))


def ref_then(ref: str) -> str:
    return _REF.sub(r"\1/", ref)


_NEW = (
    *("base", "base_worktree", "attest", "branch", "branch_at", "sign"),
    *("marks", "resolves", "pushed"),
)
_NEVER = (
    *("prompt", "resume_sha", "paths", "changed_since", "changed_to", "tool", "tools"),
    *("plugin", "test", "only_new", "folders", "cache", "lfs", "documents"),
    "by_others",
)


def checkout_then(job: dict[str, Any]) -> dict[str, Any]:
    """A Job whose checkout, `prepare` or `land` is told no more than the older code told it, with
    the cluster's DNS."""
    template = job["spec"]["template"]
    kinds = ("initContainers", "containers")
    told = {k: [*map(_told_then, template["spec"][k])] for k in kinds if k in template["spec"]}
    pod = template["spec"] | told
    pod = {field: value for field, value in pod.items() if field != "dnsConfig"}
    return job | {"spec": job["spec"] | {"template": template | {"spec": pod}}}


def _told_then(container: dict[str, Any]) -> dict[str, Any]:
    if "env" in container:
        container = container | {"env": [*map(_remote_then, container["env"])]}
    if container["name"] not in (CHECKOUT, PREPARE, LAND):
        return container
    return container | {"env": [*map(_config_then, container["env"])]}


def _remote_then(variable: dict[str, Any]) -> dict[str, Any]:
    """Of a program's configuration: all refs were in one repository."""
    if variable["name"] != CONFIG_VARIABLE:
        return variable
    config = json.loads(variable["value"])
    if "remote" in config and config["remote"].get("work_url") is None:
        config["remote"].pop("work_url", None)
    return variable | {"value": json.dumps(config, separators=(",", ":"), sort_keys=True)}


def agent_job_then(job: dict[str, Any]) -> dict[str, Any]:
    """An agent's Job as the older code wrote it: the kubelet expanded its commands, nobody saw
    what the agent printed, and the ConfigMap's prompt was the agent's."""
    template = job["spec"]["template"]
    pod = template["spec"]
    containers = [
        container | {"command": _command_then(container), "volumeMounts": _mounts_then(container)}
        for container in pod["containers"]
    ]
    init = [
        container
        | {"env": [*map(_config_then, container["env"])], "volumeMounts": _mounts_then(container)}
        for container in pod["initContainers"]
    ]
    volumes = [_volume_then(each) for each in pod["volumes"] if each["name"] != "prompt"]
    pod = pod | {"containers": containers, "initContainers": init, "volumes": volumes}
    return job | {"spec": job["spec"] | {"template": template | {"spec": pod}}}


def _rules_then(rules: str) -> str:
    """No agent could say that it waits for something."""
    return rules.partition("\nIf you can go on only once")[0]


def prompt_then(config_map: dict[str, Any]) -> dict[str, Any]:
    """A prompt as the older code wrote it: as a whole, under the name of its session."""
    told = config_map["data"]
    texts = parts.begun(parts.texts_of(told), resumed=True)
    context = "".join(f"\n- {path}" for path in parts.context_of(told))
    found = texts.get(parts.FINDINGS)
    whole = (
        *(texts.get(part) for part in (parts.HEAD, parts.DESCRIPTION, parts.FILES)),
        f"Read these files first:{context}" if context else "",
        *(texts.get(part) for part in (parts.CONSTRAINTS, parts.SIGNALS, parts.NOTES)),
        f"The attempt before this one was rejected. What was found:\n\n{found}" if found else "",
        _rules_then(texts[parts.RULES]),
    )
    rest = {key: value for key, value in told.items() if key.endswith(".crt")}
    name = config_map["metadata"]["name"].removesuffix("-prompt")
    return config_map | {
        "metadata": config_map["metadata"] | {"name": name},
        "data": {"prompt.md": "\n\n".join(filter(None, whole)) + "\n", **rest},
    }


def _volume_then(volume: dict[str, Any]) -> dict[str, Any]:
    if volume["name"] == "session":
        source = volume["configMap"]
        name = source["name"].removesuffix("-prompt")
        return volume | {"configMap": source | {"name": name}}
    return scratch("control", "1Mi") if volume["name"] == "control" else volume


def _mounts_then(container: dict[str, Any]) -> list[dict[str, Any]]:
    """The agent's prompt came out of the ConfigMap, which `checkout` had no need of."""
    mounts = container["volumeMounts"]
    if container["name"] == CHECKOUT:
        return [mount for mount in mounts if mount["name"] not in ("session", "prompt")]
    prompt = {"name": "session", "mountPath": "/session/prompt.md", "readOnly": True}
    return [
        {**prompt, "subPath": "prompt.md"} if mount["name"] == "prompt" else mount
        for mount in mounts
    ]


def without_plan(job: dict[str, Any]) -> dict[str, Any]:
    """An agent's Job as the older code wrote it: only its session told of the Plan."""
    template = job["spec"]["template"]
    own = {name: v for name, v in job["metadata"]["labels"].items() if name != labels.PLAN}
    metadata = template["metadata"] | {"labels": own}
    return job | {
        "metadata": job["metadata"] | {"labels": own},
        "spec": job["spec"] | {"template": template | {"metadata": metadata}},
    }


def _command_then(container: dict[str, Any]) -> list[str]:
    words = [word.replace("$$", "$") for word in container["command"]]
    end = words.index("--")
    echo = words.index("--echo")
    return words[:echo] + words[end:]


def _config_then(variable: dict[str, Any]) -> dict[str, Any]:
    if variable["name"] != CONFIG_VARIABLE:
        return variable
    config = json.loads(variable["value"])
    kept = {
        name: value
        for name, value in config.items()
        if not name.startswith("output")
        and name not in _NEVER
        and (value is not None or name not in _NEW)
    }
    if "commit" in kept:
        kept["commit"] = {name: kept["commit"][name] for name in ("author", "email", "message")}
    return variable | {"value": json.dumps(kept, separators=(",", ":"), sort_keys=True)}


# --- Jobs that said everything ------------------------------------------------------------------

_REPOSITORIES = {CHECKOUT: "base", INSPECT: "base", RECORDER: "recorder", PUSHER: "pusher"}
"""Volume of each program's repository; of those not named here it is `git`."""
_TMP_FOR = [CHECKOUT, RECORDER, PUSHER]


def spelled_out(job: dict[str, Any]) -> dict[str, Any]:
    """A Job as the older code wrote it: each container said again what its pod says, defaults were
    named, a program's /tmp and its repository were on two volumes, 64Mi of disk were requested, and
    all stayed an hour."""
    template = job["spec"]["template"]
    pod = template["spec"]
    kinds = ("initContainers", "containers")
    found = {kind: [_container_then(each) for each in pod[kind]] for kind in kinds if kind in pod}
    programs = [each["name"] for kind in found for each in pod[kind] if _is_ours(each)]
    pod = pod | found | {"volumes": _volumes_then(pod["volumes"], programs)}
    pod["securityContext"] = pod["securityContext"] | {"fsGroupChangePolicy": "OnRootMismatch"}
    spec = job["spec"] | {"completions": 1, "parallelism": 1}
    spec |= {"ttlSecondsAfterFinished": 3600}
    return job | {"spec": spec | {"template": template | {"spec": pod}}}


def _is_ours(container: dict[str, Any]) -> bool:
    return "bernstein.pods" in container["command"]


def _container_then(container: dict[str, Any]) -> dict[str, Any]:
    everywhere = {
        "runAsNonRoot": True,
        "runAsUser": 1000,
        "runAsGroup": 1000,
        "seccompProfile": {"type": "RuntimeDefault"},
    }
    requests = container["resources"]["requests"] | {"ephemeral-storage": "64Mi"}
    then = container | {
        "resources": container["resources"] | {"requests": requests},
        "securityContext": everywhere | container["securityContext"],
    }
    if not _is_ours(container):
        words = [word.replace(_LAUNCHER, "/launcher/launcher") for word in then["command"]]
        return then | {"command": words, "volumeMounts": _launcher_then(then["volumeMounts"])}
    name = container["name"]
    volume = _REPOSITORIES.get(name, "git")
    config = json.loads(container["env"][0]["value"]) | {"git_dir": f"/{volume}/repo.git"}
    config.pop("protected", None)  # nobody was asked about work then
    config.pop("secrets", None)  # nor was it looked through
    config.pop("documents", None)  # and nobody left any
    if name == INSPECT:
        config.pop("pinned", None)  # no gate that only reads asked for what the Plan started from
    if config.get("launcher_to"):
        config["launcher_to"] = "/launcher/launcher"
    text = json.dumps(config, separators=(",", ":"), sort_keys=True)
    return then | {
        "env": [{"name": CONFIG_VARIABLE, "value": text}, {"name": "HOME", "value": "/tmp"}],
        "volumeMounts": _programs_mounts_then(name, volume, container["volumeMounts"]),
    }


def _programs_mounts_then(
    name: str, volume: str, mounts: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    *others, _tmp = mounts
    if name == CHECKOUT:
        others = [mount("launcher", "/launcher") if m["name"] == "control" else m for m in others]
    names = [each["name"] for each in others]
    place = names.index("packs") + 1 if "packs" in names else 0
    own = mount(volume, f"/{volume}")
    return [*others[:place], own, *others[place:], mount(f"tmp-{name}", "/tmp")]


def _launcher_then(mounts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    launcher = mount("launcher", "/launcher", read_only=True)
    return [then for m in mounts for then in ((m, launcher) if m["name"] == "control" else (m,))]


def _volumes_then(volumes: list[dict[str, Any]], programs: list[str]) -> list[dict[str, Any]]:
    known = [*_TMP_FOR, *programs]
    tmps = [
        scratch(f"tmp-{name}", "256Mi" if name == INSPECT else "64Mi")
        for name in sorted(programs, key=known.index)
    ]
    names = [each["name"] for each in volumes]
    last = next(name for name in ("tmp", "git", "base") if name in names)
    then = []
    for volume in volumes:
        if "configMap" in volume:
            volume = volume | {"configMap": {"defaultMode": 0o444} | volume["configMap"]}
        then.append(volume)
        if volume["name"] == "packs":
            then.append(scratch("launcher", "16Mi"))
        if volume["name"] == last:
            then += tmps
    return then


# --- Jobs whose programs were told by a variable ------------------------------------------------

_OF_LAUNCHER = {
    "--stdin": "/session/prompt.md",
    "--stdout": "/stream/stdout.log",
    "--stderr": "/stream/stderr.log",
    "--exit-record": "/stream/exit.json",
    "--start-file": "/control/start",
    "--stop-file": "/control/stop",
    "--int-seconds": "10",
    "--term-seconds": "10",
    "--echo": "/control/output.log",
    "--echo-end": "/control/output-end",
}
_CONTROL = mount("control", "/control")
_SEEN: dict[tuple[str, str], list[dict[str, Any]]] = {
    (CHECKOUT, "session"): [_CONTROL],
    (CHECKOUT, "parts"): [
        mount("session", "/session", read_only=True),
        mount("prompt", "/prompt"),
    ],
    (RECORDER, "session"): [_CONTROL, mount("packs", "/packs")],
    (RECORDER, "parts"): [mount("session", "/session", read_only=True)],
    (PUSHER, "recorder"): [
        mount("base", "/base", read_only=True),
        mount("packs", "/packs", read_only=True),
    ],
    (PUSHER, "base"): [mount("pusher", "/tmp")],
    (AGENT, "session"): [mount("control", "/control", read_only=True)],
    (AGENT, "tmp"): [mount("tmp", "/tmp"), mount("prompt", "/session", read_only=True)],
}
"""What a container of an agent's pod saw in place of what it mounts today."""
_TOKEN = {"serviceAccountToken": {"path": "token", "audience": AUDIENCE, "expirationSeconds": 3600}}
_VOLUMES: dict[str, list[dict[str, Any]]] = {
    "session": [scratch("control", "24Mi"), scratch("packs")],
    "recorder": [scratch("recorder"), scratch("pusher")],
    "parts": [scratch("prompt", "1Mi"), {"name": "session"}],
    "token": [{"name": "token", "projected": {"defaultMode": 0o440, "sources": [_TOKEN]}}],
}


def with_variables(job: dict[str, Any]) -> dict[str, Any]:
    """A Job as the older code wrote it: programs of ours had their configuration in a variable, and
    were told usual places; what checkout, recorder, pusher and agent exchange was on more volumes;
    and what Kubernetes does anyway was said: when to pull, and that nobody writes to Secrets."""
    template = job["spec"]["template"]
    pod = template["spec"]
    kept = {v["name"] for v in pod["volumes"] if "secret" in v or "configMap" in v}
    kinds = ("initContainers", "containers")
    found = {kind: [_with_variable(c, kept) for c in pod[kind]] for kind in kinds if kind in pod}
    is_agents = any(c["name"] == AGENT for c in pod["containers"])
    volumes = [
        volume | then if volume["name"] == "parts" and then["name"] == "session" else then
        for volume in pod["volumes"]
        for then in (_VOLUMES.get(volume["name"], [volume]) if is_agents else [volume])
    ]
    pod = pod | found | {"volumes": volumes}
    return job | {"spec": job["spec"] | {"template": template | {"spec": pod}}}


def _with_variable(container: dict[str, Any], kept: set[str]) -> dict[str, Any]:
    name = container["name"]
    mounts = [
        then | ({"readOnly": True} if then["name"] in kept else {})
        for each in container["volumeMounts"]
        for then in _SEEN.get((name, each["name"]), [each])
    ]
    then = {"imagePullPolicy": "IfNotPresent"} | container | {"volumeMounts": mounts}
    command = container["command"]
    if name == AGENT:
        words = [word for option in _OF_LAUNCHER.items() for word in option]
        return then | {"command": [_LAUNCHER, *words, *command[5:]]}
    if not _is_ours(container):
        return then
    text = json.dumps(_told_of_places(name, told(container)))
    return then | {
        "command": command[:4],
        "env": [{"name": CONFIG_VARIABLE, "value": text}, *container.get("env", ())],
    }


def _told_of_places(name: str, config: dict[str, Any]) -> dict[str, Any]:
    if name == CHECKOUT and config["launcher_to"] is None:
        config["launcher_from"] = None
    if name == RECORDER:
        for file in ("start_file", "stop_file", "output", "output_end"):
            config[file] = config[file].replace("/session/", "/control/")
        config["packs"] = "/packs"
    if name == PUSHER:
        config |= {"base_git_dir": "/base/repo.git", "packs": "/packs"}
    return config
