"""One Job of every kind, built for a plain Project and for one that uses every field."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from bernstein.api.pod import (
    PROGRAM,
    Check,
    CheckoutConfig,
    InspectConfig,
    PusherConfig,
    RecorderConfig,
)
from bernstein.api.programs.cache import CacheConfig
from bernstein.api.programs.comparing import CompareConfig
from bernstein.api.programs.forge import ListenConfig, ProposeConfig, SeenPullRequest, WatchConfig
from bernstein.api.programs.formatting import CollectConfig, FormatConfig
from bernstein.api.programs.judge import Asked, JudgeConfig
from bernstein.api.programs.merge import BeginConfig, LandConfig, PrepareConfig
from bernstein.api.programs.plugin import PluginConfig
from bernstein.api.programs.probe import ProbeConfig, ProbeKeyConfig
from bernstein.api.programs.prune import PruneConfig
from bernstein.api.projects.refs import RefToDelete
from bernstein.api.projects.workplace import Workplace
from bernstein.checks.gate import Plugin, asking_plugin
from bernstein.checks.spec import CheckSpec, Database
from bernstein.controllers import job_actions
from bernstein.controllers.jobs import agent
from bernstein.controllers.jobs.probe import probe_job
from bernstein.controllers.settings import OperatorSettings
from bernstein.core import owners
from bernstein.core.actions import (
    KnownBase,
    RunBegin,
    RunCheck,
    RunClose,
    RunFormat,
    RunInspect,
    RunJudge,
    RunLand,
    RunListen,
    RunPrepare,
    RunPropose,
    RunSeek,
)
from bernstein.core.judging.written import packed
from bernstein.core.projects.actions import RunCache, RunProbe, RunPrune, RunWatch, RunWithdraw
from tests.unit.core import objects
from tests.unit.core.objects import BASE, HEAD, NAMESPACE, PLAN_UID, TREE

Object = dict[str, Any]

PLAIN_SETTINGS = OperatorSettings(image="bernstein:1")
FULL_SETTINGS = OperatorSettings(
    image="bernstein:1",
    callback_url="https://bernstein.bernstein-system:8052",
    callback_ca=Path("/etc/bernstein/callback/ca.crt"),
    image_pull_policy="Always",
    heartbeat_seconds=5,
    checkpoint_seconds=10,
)
PLAIN = objects.project()
JUDGED = objects.project(
    models=[
        {
            "name": "claude-sonnet-4-5",
            "provider": "anthropic",
            "key": {"name": "judge", "key": "api-key"},
        }
    ]
)
"""As plain as can be, with a model that can be asked."""
FORGED = objects.project(
    repositories=[
        {
            **objects.project().spec.repositories[0].dump(),
            "forge": {"type": "gitea", "token": {"name": "forge", "key": "token"}},
        }
    ],
    merge={"strategy": "pr"},
)
"""As plain as can be, with pull requests."""
FULL = objects.project(
    repositories=[
        {
            "name": "app",
            "url": "https://git.example/app.git",
            "branch": "trunk",
            "credentials": {a: {"secretName": f"git-{a}"} for a in ("read", "work", "deliver")},
            "ca": {"name": "git-ca", "key": "root.pem"},
            "forge": {
                "type": "gitlab",
                "api": "https://forge.example/api/v4",
                "token": {"name": "forge", "key": "token"},
            },
        }
    ],
    merge={
        "strategy": "pr",
        "pullRequest": {"draft": True, "labels": ["ours"], "lookSeconds": 60},
        "commit": {
            "author": {"name": "Ada", "email": "ada@example.com"},
            "committer": {"name": "Robot", "email": "robot@example.com"},
            "signOff": True,
        },
        "signing": {"key": {"name": "ssh", "key": "id"}, "publicKey": "id.pub"},
    },
    agents=[
        {
            "name": "demo",
            "adapter": "codex",
            "image": "codex:1",
            "baseUrl": "http://llm.example/v1",
            "apiKey": {"name": "openai", "key": "token"},
            "configMap": "codex-config",
            "resources": {"cpu": "2", "memory": "4Gi", "ephemeralStorage": "8Gi"},
        }
    ],
    toolchain={
        "image": "toolchain:1",
        "readOnlyRootFilesystem": False,
        "resources": {"cpu": "1", "memory": "2Gi", "ephemeralStorage": "4Gi"},
    },
    attestation={
        "key": {"name": "signs", "key": "ed25519.pem"},
        "publicKey": "ed25519.public.pem",
    },
    models=[
        {
            "name": "claude-sonnet-4-5",
            "provider": "anthropic",
            "baseUrl": "https://models.example/v1",
            "key": {"name": "judge", "key": "api-key"},
            "ca": {"name": "models-ca", "key": "root.pem"},
        },
        {"name": "gpt-5.5", "provider": "openai", "key": {"name": "other", "key": "api-key"}},
    ],
    pods={"runtimeClassName": "gvisor", "imagePullSecrets": ["registry"]},
    limits={"stallSeconds": 60},
    setup={"command": "npm ci --prefer-offline", "timeoutSeconds": 300},
)

CONFIGS: dict[str, type[Any]] = {
    "checkout": CheckoutConfig,
    "pusher": PusherConfig,
    "recorder": RecorderConfig,
    "inspect": InspectConfig,
    "judge": JudgeConfig,
    "collect": CollectConfig,
    "format": FormatConfig,
    "begin": BeginConfig,
    "prepare": PrepareConfig,
    "land": LandConfig,
    "compare": CompareConfig,
    "probe": ProbeConfig,
    "probe_key": ProbeKeyConfig,
    "propose": ProposeConfig,
    "listen": ListenConfig,
    "watch": WatchConfig,
    "prune": PruneConfig,
    "cache": CacheConfig,
}

URL = "https://git.example/app.git"
REF = "refs/bernstein/1111222233334444/work/s1"
BRANCH = "bernstein/web-11112222"
INTEGRATION = "refs/bernstein/1111222233334444/integration"
TASK = owners.owner_reference("Task", "work", "uid-work")
PLAN = owners.owner_reference("Plan", "web", PLAN_UID)
PROJECT = owners.owner_reference("Project", "default", "uid-default")
LINT = CheckSpec(
    "lint",
    "gate",
    "lint",
    True,
    command="ruff check .",
    image="toolchain:1",
    timeout=90,
    pinned=("ruff.toml",),
    findings="ruff check --exit-zero --output-format json-lines .",
)
BOTH = CheckSpec(
    "complexity_check",
    "gate",
    "complexity_check",
    True,
    command="radon cc --json .",
    image="toolchain:1",
    output="radon",
    against_base=True,
    tolerance=20.0,
)
MUTANTS = CheckSpec(
    "mutation_testing",
    "gate",
    "mutation_testing",
    True,
    command='python3 -I "$TOOLS/mutants.py" code pytest',
    image="toolchain:1",
    output="mutants",
    against_base=True,
    least=0.5,
    tool="mutants",
)
WEAK = CheckSpec(
    *("dep_audit", "gate", "dep_audit", True),
    command='python3 -I "$TOOLS/advisories.py" high',
    image="toolchain:1",
    output="advisories",
    against_base=True,
    tool="advisories",
    database=Database("PIP_AUDIT_OSV_URL", "https://osv.example/v1/query", ("osv-ca", "root.pem")),
)
FORMATS = CheckSpec(
    *("auto_format", "gate", "auto_format", False),
    command='xargs fmt <"$CHANGED"',
    image="toolchain:1",
    timeout=90,
    pinned=("fmt.toml",),
    paths=("src/**",),
)
OWN = CheckSpec("licence", "gate", "licence", True, command="licence-check", image="own:1")
READY = replace(OWN, setup="npm ci", setup_seconds=300)
PYTHON = CheckSpec(
    *("no_foo", "gate", "no_foo", True),
    command=asking_plugin("no_foo"),
    image="own:1",
    plugin=Plugin(says_required=True, says_condition=True),
)
TOLD = PluginConfig(BASE, BASE, "Do work", "As it should be.", ask_condition=True)
WRITTEN = CheckSpec(
    *("integration_test_gen", "gate", "integration_test_gen", True),
    command='pytest "$TEST"',
    image="tools:1",
    asks=Asked("integration_test_gen", "integration_test_gen.v1", "test", model="m"),
    test=packed("def test_a() -> None:\n    assert True\n"),
)
SERVICE = CheckSpec(
    *("signal-0", "signal", "api_responds: /", True),
    command="/session/launcher --ask / -- sh -c serve",
    image="tools:1",
    launched=True,
)
READS = tuple(
    CheckSpec(name, "gate", name, True, reads=Check(name=name, type=name))
    for name in ("pii_scan", "merge_conflict")
)


ASKS = CheckSpec(
    "signal-0",
    "signal",
    "llm_review: It is tested.",
    True,
    asks=Asked("signal-0", "llm_review.v1", "review", "It is tested.", "claude-sonnet-4-5"),
)


Wanted = job_actions.RunJob | RunProbe


def agent_job(project: Workplace, settings: OperatorSettings) -> Object:
    session = objects.session(model="gpt-5")
    found = project.spec.agent("demo")
    assert found is not None
    return agent.agent_job(session, project, found, "Do work\n\nBernstein-Task: t\n", settings)


def follow_up(
    wanted: Wanted, owner: Object, project: Workplace, settings: OperatorSettings
) -> Object:
    if isinstance(wanted, RunProbe):
        return probe_job(wanted, project, NAMESPACE, owner, settings)
    return job_actions.build(wanted, project, NAMESPACE, owner, settings)


SAID = '{"verificationResult":"PASSED"}'
WANTED: dict[str, tuple[Wanted, Object]] = {
    "check": (RunCheck("work-s1-lint-0", LINT, REF, HEAD, BASE), TASK),
    "check-own-image": (RunCheck("work-s1-licence-0", OWN, REF, HEAD, BASE), TASK),
    "check-service": (RunCheck("work-s1-signal-0-0", SERVICE, REF, HEAD, BASE), TASK),
    "setup": (RunCheck("work-s1-licence-0", READY, REF, HEAD, BASE), TASK),
    "setup-both": (
        RunCheck(
            *("work-s1-mutation-testing-0", replace(MUTANTS, setup="npm ci", setup_seconds=300)),
            *(REF, HEAD, BASE, BASE),
            compares=True,
        ),
        TASK,
    ),
    "paths": (
        RunCheck(
            "work-s1-licence-0",
            replace(OWN, paths=("web/**",)),
            REF,
            HEAD,
            BASE,
            changed_since=BASE,
        ),
        TASK,
    ),
    "plugin": (RunCheck("work-s1-no-foo-0", PYTHON, REF, HEAD, BASE, plugin=TOLD), TASK),
    "plugin-base": (
        RunCheck("work-s1-no-foo-0b", PYTHON, REF, HEAD, BASE, BASE, is_second=True, plugin=TOLD),
        TASK,
    ),
    "written": (RunCheck("work-s1-integration-test-gen-0u20", WRITTEN, REF, HEAD, BASE), TASK),
    "base": (RunCheck("work-s1-licence-0b", OWN, REF, HEAD, BASE, BASE, is_second=True), TASK),
    "compare": (
        RunCheck("work-s1-lint-0b", LINT, REF, HEAD, BASE, BASE, compares=True, is_second=True),
        TASK,
    ),
    "both": (RunCheck("work-s1-both-0", BOTH, REF, HEAD, BASE, BASE, compares=True), TASK),
    "both-again": (
        RunCheck("work-s1-both-0b", BOTH, REF, HEAD, BASE, BASE, compares=True, is_second=True),
        TASK,
    ),
    "both-known": (
        RunCheck(
            *("work-s1-both-0", BOTH, REF, HEAD, BASE, BASE),
            compares=True,
            known=KnownBase(
                "eJyrVspNTSwuLUpNUbKqVlBKLFKyMqit1VHKS8xNVbKKrq0FAKh8CrQ=", "0123456789abcdef"
            ),
        ),
        TASK,
    ),
    "tool": (
        RunCheck("work-s1-mutation-testing-0", MUTANTS, REF, HEAD, BASE, BASE, compares=True),
        TASK,
    ),
    "database": (
        RunCheck("work-s1-dep-audit-0", WEAK, REF, HEAD, BASE, BASE, compares=True),
        TASK,
    ),
    "inspect": (RunInspect("work-s1-inspect-0", READS[:1], REF, HEAD, BASE, INTEGRATION), TASK),
    "inspect-merge": (RunInspect("work-s1-inspect-0", READS, REF, HEAD, BASE, INTEGRATION), TASK),
    "judge": (
        RunJudge(
            "work-s1-judge-1-0", "judge-1", (ASKS,), REF, HEAD, BASE, "Do work", "As it should be."
        ),
        TASK,
    ),
    "format": (
        RunFormat(
            "work-s1-auto-format-0u11", FORMATS, REF, HEAD, BASE, BASE, f"{REF}-f", "Do work\n"
        ),
        TASK,
    ),
    "begin": (RunBegin("web-begin-0", "refs/heads/trunk", INTEGRATION), PLAN),
    "prepare": (
        RunPrepare("work-s1-prepare-1", REF, HEAD, INTEGRATION, f"{REF}-c", "Do work\n"),
        TASK,
    ),
    "land": (RunLand("work-s1-land-1", REF, HEAD, TREE, INTEGRATION, BASE, SAID), TASK),
    "land-look": (RunLand("work-s1-land-2", REF, HEAD, TREE, INTEGRATION, None, SAID), TASK),
    "land-seek": (RunSeek("web-land-3", "refs/pull/7/head", HEAD, "refs/heads/trunk"), PLAN),
    "land-plan": (RunLand("web-land-1", INTEGRATION, HEAD, TREE, "refs/heads/trunk", BASE), PLAN),
    "probe": (RunProbe("default--probe-0", "1"), PROJECT),
    "land-branch": (
        RunLand(
            *("web-land-1", INTEGRATION, HEAD, TREE, "refs/heads/trunk", BASE),
            branch="refs/heads/bernstein/web-11112222",
            signs=True,
        ),
        PLAN,
    ),
    "propose": (
        RunPropose("web-propose-2", BRANCH, "trunk", "Add a shop", "Verified.\n"),
        PLAN,
    ),
    "close": (RunClose("web-propose-3", 7, BRANCH, "trunk", "Cancelled.\n"), PLAN),
    "listen": (RunListen("web-listen-0", 7, ("review-80",)), PLAN),
    "watch": (
        RunWatch("default--watch-0", (SeenPullRequest(7, "Open", HEAD, "trunk"),), 1),
        PROJECT,
    ),
    "withdraw": (RunWithdraw("default--close-0", 7, BRANCH, "trunk", "Deleted.\n"), PROJECT),
    "prune": (
        RunPrune("default--prune-0", (RefToDelete(ref=REF, sha=HEAD, due=objects.NOW),)),
        PROJECT,
    ),
    "cache": (
        RunCache("default--cache-0", "caches", "uid-default-01234567", URL, "trunk"),
        PROJECT,
    ),
}
_PLAIN = dict.fromkeys(("propose", "close", "listen", "watch", "withdraw"), FORGED)
_PLAIN |= {"judge": JUDGED}
"""By the Job, where it needs more than a Project must have."""


def jobs() -> dict[str, Object]:
    """Every Job by a name for it."""
    found = {
        "agent": agent_job(PLAIN, PLAIN_SETTINGS),
        "agent-full": agent_job(FULL, FULL_SETTINGS),
    }
    for name, (wanted, owner) in WANTED.items():
        plain = _PLAIN.get(name, PLAIN)
        found[name] = follow_up(wanted, owner, plain, PLAIN_SETTINGS)
        found[f"{name}-full"] = follow_up(wanted, owner, FULL, FULL_SETTINGS)
    return found


def environment(container: Object) -> dict[str, str]:
    return {e["name"]: e["value"] for e in container.get("env", ()) if "value" in e}


def idles(container: Object) -> bool:
    """It is only there to be started: that shows that a model key is there."""
    return bool(container["command"] == ["true"])


def program(container: Object) -> str | None:
    """The program of ours that it runs."""
    return str(container["command"][3]) if tuple(container["command"][:3]) == PROGRAM else None


def configuration(container: Object) -> str:
    """What a program of ours is told."""
    assert program(container) is not None
    (text,) = container["command"][4:]
    return str(text)


JOBS = jobs()


def pod(name: str) -> Object:
    found: Object = JOBS[name]["spec"]["template"]["spec"]
    return found


def containers(name: str) -> list[Object]:
    spec = pod(name)
    return [*spec.get("initContainers", ()), *spec["containers"]]


def mounts(name: str) -> Iterator[tuple[Object, Object, Object]]:
    """(container, mount, volume) of a pod."""
    volumes = {v["name"]: v for v in pod(name)["volumes"]}
    for container in containers(name):
        for mount in container.get("volumeMounts", ()):
            yield container, mount, volumes[mount["name"]]
