"""The pods that are made: exactly these, and none that holds more than it needs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

from bernstein.api.encoding import dump, load
from bernstein.api.pod import (
    PROBE_KEY,
    CheckoutConfig,
    InspectConfig,
)
from bernstein.controllers.jobs import agent
from bernstein.core.actions import RunCheck, RunInspect, RunJudge
from bernstein.core.prompts import parts
from bernstein.pods.git.client import LOOKUP_SECONDS, NETWORK_SECONDS
from tests.unit.controllers.jobs import built
from tests.unit.controllers.jobs.built import (
    JOBS,
    Object,
    configuration,
    containers,
    environment,
    mounts,
    pod,
)
from tests.unit.core import objects
from tests.unit.core.objects import BASE, HEAD, TREE

EVERY = pytest.mark.parametrize("name", JOBS)
LAUNCHER = Path(__file__).parents[4] / "images" / "bernstein" / "launcher.c"
MAY_HOLD = {
    "judge": {"judge"},
    "git-read": {"checkout", "probe", "land", "cache"},
    "git-work": {"pusher", "format", "begin", "prepare", "probe-work", "prune"},
    "git-deliver": {"land", "probe-deliver"},
    "openai": {"agent"},
    "signs": {"land"},
    "ssh": {"land"},
    "forge": {"propose", "watch", "listen"},
}


class _Yaml(SingleFileSnapshotExtension):
    file_extension = "yaml"
    _write_mode = WriteMode.TEXT

    def serialize(self, data: Any, **_: Any) -> str:
        return yaml.safe_dump(data, sort_keys=False, width=100)


@EVERY
def test_a_job_is_exactly_this(name: str, snapshot: SnapshotAssertion) -> None:
    assert JOBS[name] == snapshot(extension_class=_Yaml)


def test_a_prompt_is_exactly_this(snapshot: SnapshotAssertion, tmp_path: Path) -> None:
    ca = tmp_path / "ca.crt"
    ca.write_text("-----BEGIN CERTIFICATE-----\n")

    assert _prompt(ca) == snapshot(extension_class=_Yaml)


def test_a_session_trusts_the_ca_of_its_own_time(tmp_path: Path) -> None:
    ca = tmp_path / "ca.crt"
    for text in ("first\n", "renewed\n"):
        ca.write_text(text)
        assert _prompt(ca)["data"]["callback-ca.crt"] == text


def _prompt(ca: Path) -> Object:
    settings = replace(built.FULL_SETTINGS, callback_ca=ca)
    texts = {parts.HEAD: "Do work.", parts.RULES: "Well.", parts.FINDINGS: ""}
    return agent.prompt_config_map(objects.session(), texts, ["README.md"], settings)


# --- what holds for every pod -------------------------------------------------------------------


_CLAIM = "persistentVolumeClaim"


@EVERY
def test_a_pod_keeps_to_the_restricted_profile(name: str) -> None:
    spec = pod(name)
    assert not {"hostNetwork", "hostPID", "hostIPC", "hostUsers"} & spec.keys()
    assert spec["securityContext"]["runAsNonRoot"] is True
    assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    for volume in spec["volumes"]:
        assert len(volume.keys() & {"emptyDir", "configMap", "secret", "projected", _CLAIM}) == 1
    for container in containers(name):
        own = container["securityContext"]
        assert own["allowPrivilegeEscalation"] is False
        assert own["capabilities"] == {"drop": ["ALL"]}
        assert own.keys() <= {
            "allowPrivilegeEscalation",
            "capabilities",
            "readOnlyRootFilesystem",
            "runAsUser",
        }, "the rest is the pod's word, for every container"
        assert not {"lifecycle", "ports"} & container.keys()


@EVERY
def test_a_pod_gets_no_service_account_token_and_no_hints_about_services(name: str) -> None:
    spec = pod(name)

    assert spec["automountServiceAccountToken"] is False
    assert spec["enableServiceLinks"] is False
    assert "serviceAccountName" not in spec


@EVERY
def test_every_user_is_explicit(name: str) -> None:
    shared = pod(name)["securityContext"]
    for container in containers(name):
        uid = 1001 if container["name"] in ("pusher", "format") else 1000
        context = shared | container["securityContext"]
        assert (context["runAsUser"], context["runAsGroup"]) == (uid, 1000)
    assert shared["fsGroup"] == 1000


@EVERY
def test_root_file_systems_are_read_only_unless_a_toolchain_opts_out(name: str) -> None:
    for container in containers(name):
        ours = built.program(container) is not None or built.idles(container)
        theirs = not ours and container["name"] != "agent"
        is_toolchain = theirs and not name.startswith("agent")
        opted_out = is_toolchain and name.endswith("-full")
        assert container["securityContext"]["readOnlyRootFilesystem"] is not opted_out


@EVERY
def test_home_and_tmp_are_scratch_and_nothing_else_is_writable(name: str) -> None:
    writable: dict[str, set[str]] = {}
    for container, mount, volume in mounts(name):
        if "emptyDir" in volume and not mount.get("readOnly"):
            writable.setdefault(container["name"], set()).add(mount["mountPath"])
    for container in (c for c in containers(name) if not built.idles(c)):
        assert "/tmp" in writable[container["name"]]
        if built.program(container) is None:
            assert environment(container)["HOME"] in writable[container["name"]]


@EVERY
def test_every_volume_is_mounted_and_no_path_twice(name: str) -> None:
    used = {mount["name"] for _, mount, _ in mounts(name)}
    assert used == {v["name"] for v in pod(name)["volumes"]}
    for container in containers(name):
        paths = [m["mountPath"] for m in container.get("volumeMounts", ())]
        assert len(paths) == len(set(paths))


@EVERY
def test_everything_is_bounded(name: str) -> None:
    for container in containers(name):
        for kind in ("requests", "limits"):
            assert container["resources"][kind].keys() == {"cpu", "memory", "ephemeral-storage"}
    job, spec = JOBS[name]["spec"], pod(name)
    assert 0 < spec["activeDeadlineSeconds"] < job["activeDeadlineSeconds"]
    is_agent = name.startswith("agent")
    assert (spec["terminationGracePeriodSeconds"] == 120) is is_agent
    assert spec["terminationGracePeriodSeconds"] <= 120
    assert job["ttlSecondsAfterFinished"] > 0


@pytest.mark.parametrize("name", ["check", "compare", "inspect", "judge"])
def test_a_job_that_judges_stays_as_long_as_it_is_asked_to_and_as_the_project_says(
    name: str,
) -> None:
    wanted, owner = built.WANTED[name]
    assert isinstance(wanted, RunCheck | RunInspect | RunJudge)
    project = built.JUDGED if name == "judge" else built.PLAIN

    for stays, seconds in ((0, 900), (899, 900), (901, 901)):
        longer = replace(wanted, stays=stays)
        made = built.follow_up(longer, owner, project, built.PLAIN_SETTINGS)
        assert made["spec"]["ttlSecondsAfterFinished"] == seconds


@EVERY
def test_a_job_runs_its_pod_once(name: str) -> None:
    spec = JOBS[name]["spec"]

    assert spec["backoffLimit"] == 0
    assert pod(name)["restartPolicy"] == "Never"
    (rule,) = spec["podFailurePolicy"]["rules"]
    assert rule["action"] == "FailJob"
    assert [c["type"] for c in rule["onPodConditions"]] == ["DisruptionTarget"]


@EVERY
def test_a_job_belongs_to_its_object_and_says_what_it_is(name: str) -> None:
    meta = JOBS[name]["metadata"]
    (owner,) = meta["ownerReferences"]
    assert owner["controller"] is True
    of_project = name.startswith(("probe", "watch", "prune", "cache", "withdraw"))
    assert owner["blockOwnerDeletion"] is not of_project, "a right it has not got"
    labels = meta["labels"]
    assert labels["app.kubernetes.io/managed-by"] == "bernstein"
    assert "app.kubernetes.io/instance" not in labels
    assert labels == JOBS[name]["spec"]["template"]["metadata"]["labels"]
    assert all(re.fullmatch(r"[A-Za-z0-9]([-\w.]{0,61}[A-Za-z0-9])?", v) for v in labels.values())


@EVERY
def test_only_an_agents_pod_is_kept_until_its_outcome_is_recorded(name: str) -> None:
    meta = JOBS[name]["spec"]["template"]["metadata"]

    kept = ["bernstein.dev/result"] if name.startswith("agent") else None
    assert meta.get("finalizers") == kept
    assert "finalizers" not in JOBS[name]["metadata"]


@EVERY
def test_the_end_of_every_container_is_told(name: str) -> None:
    for container in containers(name):
        assert container["terminationMessagePolicy"] == "FallbackToLogsOnError"


CHECKS = pytest.mark.parametrize("name", [n for n in JOBS if n.startswith(("check", "inspect"))])


@CHECKS
def test_a_check_fetches_the_whole_history_only_where_it_merges(name: str) -> None:
    (first,) = pod(name)["initContainers"]
    config = load(CheckoutConfig, configuration(first))

    assert config.history is name.startswith("inspect-merge")
    if name.startswith("inspect"):
        assert BASE in config.also, "what the change is compared with"


@CHECKS
def test_a_pod_s_start_takes_nothing_from_its_check_s_time(name: str) -> None:
    (runs,) = pod(name)["containers"]
    limit = built.LINT.timeout if name in ("check", "check-full") else built.OWN.timeout
    if runs["name"] == "inspect":
        limit = load(InspectConfig, configuration(runs)).scan_seconds
        assert limit == built.PLAIN.spec.gates.timeout_seconds

    assert pod(name)["activeDeadlineSeconds"] == limit + 300


def test_who_deletes_refs_has_the_time_that_git_may_take_for_it() -> None:
    assert pod("prune")["activeDeadlineSeconds"] > NETWORK_SECONDS + 2 * LOOKUP_SECONDS


# --- who holds what -----------------------------------------------------------------------------


@EVERY
def test_a_secret_is_mounted_only_where_it_is_needed_and_for_its_group(name: str) -> None:
    for container, _, volume in mounts(name):
        if "secret" in volume:
            holder = volume["secret"]["secretName"]
            assert container["name"] in MAY_HOLD[holder], f"{container['name']} holds {holder}"
            assert volume["secret"]["defaultMode"] == 0o440


@EVERY
def test_no_value_of_the_environment_comes_from_a_secret_but_what_a_probe_waits_for(
    name: str,
) -> None:
    """That is the name of its account; or a key, in a container that does nothing else with it."""
    for container in containers(name):
        assert "envFrom" not in container
        taken = [e["valueFrom"] for e in container.get("env", ()) if e.keys() != {"name", "value"}]
        assert len(taken) == int(name.startswith("probe"))
        for source in taken:
            assert source.keys() == {"secretKeyRef"}
            only_tries = built.idles(container) or built.program(container) == PROBE_KEY
            assert source["secretKeyRef"]["key"] == "username" or only_tries


def test_who_asks_models_holds_the_keys_of_those_that_it_asks_and_sees_no_tree() -> None:
    (judge,) = pod("judge-full")["containers"]

    assert {v["name"] for v in pod("judge-full")["volumes"]} == {
        *("base", "secret-read", "repository-ca"),
        *("secret-model-0", "model-ca-0"),
    }
    assert {m["name"] for m in judge["volumeMounts"]} == {"base", "secret-model-0", "model-ca-0"}
    fetched = load(CheckoutConfig, configuration(pod("judge-full")["initContainers"][0]))
    assert (fetched.worktree, fetched.base_worktree) == (None, None)


@EVERY
def test_the_callback_token_is_the_recorders_alone_and_for_our_server_alone(name: str) -> None:
    holders = [(c["name"], v) for c, _, v in mounts(name) if "projected" in v]

    assert [h for h, _ in holders] == (["recorder"] if name.startswith("agent") else [])
    for _, volume in holders:
        (source,) = volume["projected"]["sources"]
        assert source["serviceAccountToken"]["audience"] == "bernstein.dev/callback"


@EVERY
def test_what_runs_other_peoples_code_holds_no_credential_of_ours(name: str) -> None:
    held = {
        c["name"]
        for c, _, v in mounts(name)
        if c["name"] in ("agent", "check", "inspect", "list-head", "list-before")
        and ("projected" in v or v.get("secret", {}).get("secretName", "").startswith("git-"))
    }

    assert held == set()


@EVERY
def test_a_program_of_ours_is_configured_with_what_is_mounted(name: str) -> None:
    for container in containers(name):
        called = built.program(container)
        if called is None:
            continue
        kind = built.CONFIGS[called]
        config: Any = load(kind, configuration(container))
        here = [m["mountPath"] for m in container["volumeMounts"]]
        for path in _paths(json.loads(dump(config))):
            assert any(path == p or path.startswith(f"{p}/") for p in [*here, "/usr"]), path
        remote = getattr(config, "remote", None)
        if remote is not None:
            assert remote.credential_dir in here
            assert (remote.ca_file is not None) is name.endswith("-full")


def _paths(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for inner in value.values():
            yield from _paths(inner)
    elif isinstance(value, str) and re.fullmatch(r"/[^\s]*", value):
        yield value


# --- the agent's pod ----------------------------------------------------------------------------

AGENTS = pytest.mark.parametrize("name", ["agent", "agent-full"])


@AGENTS
def test_pusher_and_recorder_stand_beside_the_agent_and_end_after_it(name: str) -> None:
    init = pod(name)["initContainers"]

    before = ["checkout", "setup"] if name == "agent-full" else ["checkout"]
    assert [c["name"] for c in init] == [*before, "pusher", "recorder"]
    restart = [c.get("restartPolicy") for c in init]
    assert restart == [*(None for _ in before), "Always", "Always"]
    assert [c["name"] for c in pod(name)["containers"]] == ["agent"]


@AGENTS
def test_the_agent_gets_its_prompt_and_nothing_else_of_the_session(name: str) -> None:
    seen = {m["name"]: m for c, m, _ in mounts(name) if c["name"] == "agent"}

    assert "parts" not in seen
    assert (seen["session"]["mountPath"], seen["session"]["readOnly"]) == ("/session", True)
    assert config(name, "checkout").prompt.to == "/session/prompt.md"


def test_the_model_key_reaches_the_agent_as_a_file_of_one_key() -> None:
    (volume,) = [v for v in pod("agent-full")["volumes"] if v["name"] == "model-key"]
    assert volume["secret"]["items"] == [{"key": "token", "path": "token"}]
    assert "model-key" not in {v["name"] for v in pod("agent")["volumes"]}


@AGENTS
def test_the_launcher_starts_the_agent_and_ends_it_within_the_grace(name: str) -> None:
    command = pod(name)["containers"][0]["command"]
    before = command[: command.index("--")]

    assert before[0] == "/session/launcher"
    options = dict(zip(before[1::2], before[2::2], strict=True))
    assert (options.pop("--session"), options.pop("--stream")) == ("/session", "/stream")
    assert options.keys() <= {"--echo-hides"}
    usual = re.search(r"\.int_ms = (\d+), \.term_ms = (\d+)", LAUNCHER.read_text())
    assert usual is not None
    assert sum(map(int, usual.groups())) < 1000 * pod(name)["terminationGracePeriodSeconds"] / 2


@AGENTS
def test_launcher_and_recorder_look_for_each_other_in_the_same_files(name: str) -> None:
    within = re.findall(r'set_within\(&o->\w+, (\w+), "([^"]+)"\)', LAUNCHER.read_text())
    files = {f"/{folder}/{file}" for folder, file in within}
    told = config(name, "recorder")

    assert files == {
        config(name, "checkout").prompt.to,
        *(told.start_file, told.stop_file, told.output, told.output_end),
        *(told.stdout, told.stderr, told.exit_record),
    }


# --- checks and merges --------------------------------------------------------------------------


def config(name: str, container: str) -> Any:
    (found,) = [c for c in containers(name) if c["name"] == container]
    return load(built.CONFIGS[container], configuration(found))


def test_a_check_runs_on_exactly_the_judged_commit_with_the_pinned_configuration() -> None:
    found = config("check", "checkout")

    assert (found.ref, found.sha) == (built.REF, HEAD)
    assert (found.pinned_sha, found.pinned_names) == (BASE, ("ruff.toml",))
    assert config("check-own-image", "checkout").pinned_sha is None


def test_a_check_has_its_own_time_and_the_image_of_its_gate() -> None:
    (check,) = pod("check-own-image")["containers"]

    assert check["image"] == "own:1"
    assert check["command"] == ["sh", "-c", "licence-check"]
    assert pod("check")["containers"][0]["image"] == "toolchain:1"


def test_what_only_reads_gets_objects_and_no_worktree() -> None:
    found = config("inspect-merge", "checkout")

    assert (found.sha, found.worktree) == (HEAD, None)
    assert found.also == (BASE, built.INTEGRATION)
    assert config("inspect", "checkout").also == (BASE,)
    assert config("inspect-merge", "inspect").onto_ref == built.INTEGRATION


def test_a_merge_is_told_what_may_land_and_where_the_tip_must_be() -> None:
    found = config("land", "land")

    assert (found.sha, found.tree, found.expect) == (HEAD, TREE, BASE)
    assert (found.ref, found.onto) == (built.REF, built.INTEGRATION)


@EVERY
def test_names_are_asked_for_as_they_are_first(name: str) -> None:
    """With the cluster's five dots, a Service `com` of the namespace would be asked before."""
    pod = JOBS[name]["spec"]["template"]["spec"]
    images = {c["image"] for c in (*pod.get("initContainers", ()), *pod["containers"])}

    first = [{"name": "ndots", "value": "1"}]
    assert pod.get("dnsConfig", {}).get("options") == (first if len(images) == 1 else None)
