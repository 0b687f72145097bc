"""The Job of one agent session, and the ConfigMap of its prompt."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from bernstein import agents
from bernstein.agents.adapter import RunSettings
from bernstein.api.pod import (
    AGENT,
    AUDIENCE,
    PUSHER,
    RECORDER,
    Callback,
    CheckoutConfig,
    PromptConfig,
    PusherConfig,
    RecorderConfig,
)
from bernstein.api.project import Agent
from bernstein.api.projects.workplace import Workplace
from bernstein.api.session import AgentSession
from bernstein.controllers.jobs import commit, pod, setup
from bernstein.controllers.jobs.pod import Object, mount, scratch
from bernstein.controllers.settings import OperatorSettings
from bernstein.core import labels, names, owners
from bernstein.core.projects.protected import protected_paths
from bernstein.core.prompts import knowledge, parts
from bernstein.core.prompts.assembly import Told
from bernstein.core.prompts.parts import Part
from bernstein.places import LAUNCHER, PARTS, PROMPT, SESSION, STREAM, TMP, WORKSPACE
from bernstein.resources import SESSIONS

CALLBACK_CA = "callback-ca.crt"
"""Beside the prompt's parts: whom the recorder trusts as the server."""
_HOME = "/home/agent"
TOKEN_FOLDER = "/var/run/bernstein"  # noqa: S105


def prompt_config_map(
    session: AgentSession,
    texts: Mapping[Part, str],
    context: Iterable[str],
    settings: OperatorSettings,
    told: Iterable[Told] = (),
) -> Object:
    """The prompt's parts, with what the Project tells, and what the recorder needs to trust the
    server.

    Raises OSError when the file of the server's CA cannot be read.
    """
    meta = session.metadata
    data = parts.data(texts, context) | knowledge.data(told)
    if settings.callback_ca is not None:
        data[CALLBACK_CA] = settings.callback_ca.read_text(encoding="utf-8")
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": names.prompt(meta.name),
            "namespace": meta.namespace,
            "labels": {labels.MANAGED_BY: labels.MANAGER, labels.SESSION: meta.name},
            "ownerReferences": [owners.owner_reference(SESSIONS.kind, meta.name, meta.uid)],
        },
        "immutable": True,
        "data": data,
    }


def agent_job(
    session: AgentSession,
    project: Workplace,
    agent: Agent,
    message: str,
    settings: OperatorSettings,
) -> Object:
    """The Job: first `checkout` and the Project's setup, then `pusher` and `recorder` as sidecars,
    then the agent.

    `message` is the whole message of the work's commit.
    """
    meta = session.metadata
    seconds = project.spec.setup.timeout_seconds if project.spec.setup is not None else 0
    spec = pod.pod(
        project,
        only_ours=False,
        init=[
            _checkout(session, project, settings),
            *_setup(project, agent, settings),
            {**_pusher(session, project, settings), "restartPolicy": "Always"},
            {**_recorder(session, project, message, settings), "restartPolicy": "Always"},
        ],
        containers=[_agent(session, agent, settings)],
        volumes=[
            *pod.checkout_volumes(project, "read", "work"),
            *_volumes(session, agent),
        ],
        deadline=session.spec.timeout_seconds + seconds,
        grace=pod.GRACE_SECONDS,
    )
    plan = session.spec.plan_ref
    job = pod.job(
        project,
        name=meta.name,
        namespace=meta.namespace,
        owner=owners.owner_reference(SESSIONS.kind, meta.name, meta.uid),
        more_labels={
            labels.JOB: AGENT,
            labels.SESSION: meta.name,
            labels.TASK: session.spec.task_ref.name,
        },
        pod=spec,
        finalizers=[labels.FINALIZER],
    )
    return pod.also_for(job, {labels.PLAN: names.label_value(plan.name)} if plan else {})


def _volumes(session: AgentSession, agent: Agent) -> list[Object]:
    limit = agent.resources.ephemeral_storage
    volumes = [
        scratch("workspace", limit),
        scratch("base"),
        scratch("stream", "256Mi"),
        scratch("session", "25Mi"),
        scratch("recorder"),
        scratch("home", limit),
        scratch("tmp", limit),
        pod.config_map("parts", names.prompt(session.metadata.name)),
        {
            "name": "token",
            "projected": {
                "sources": [{"serviceAccountToken": {"path": "token", "audience": AUDIENCE}}]
            },
        },
    ]
    if agent.config_map is not None:
        volumes.append(pod.config_map("agent-config", agent.config_map))
    if agent.api_key is not None:
        key = pod.secret("model-key", agent.api_key.name)
        key["secret"]["items"] = [{"key": agent.api_key.key, "path": agent.api_key.key}]
        volumes.append(key)
    return volumes


def _checkout(session: AgentSession, project: Workplace, settings: OperatorSettings) -> Object:
    repository, base = project.spec.repository, session.spec.base_ref
    config = CheckoutConfig(
        remote=pod.remote(repository, "read"),
        ref=base,
        worktree=WORKSPACE,
        worktree_git=True,
        resume=session.spec.resume_ref,
        resume_sha=session.spec.resume_sha,
        launcher_to=LAUNCHER,
        prompt=_prompt(session),
        folders=repository.folders,
        # A repository that lacks the branch's history takes no commit on it without that.
        history=repository.work_repository is not None and not names.is_work_ref(base),
    )
    return pod.checkout(
        config,
        project,
        settings,
        mounts=[
            mount("workspace", WORKSPACE),
            mount("session", SESSION),
            mount("parts", PARTS),
        ],
    )


def _setup(project: Workplace, agent: Agent, settings: OperatorSettings) -> list[Object]:
    """It is over before the sidecars begin, which hold credentials. What it leaves is part of the
    tree from which the agent begins: what no rule ignores of that is in the work."""
    asked = project.spec.setup
    if asked is None:
        return []
    return [
        setup.container(
            asked.command,
            asked.timeout_seconds,
            agent.image,
            agent.resources,
            settings,
            home=_HOME,
        )
    ]


def _prompt(session: AgentSession) -> PromptConfig:
    rejected = session.spec.rejected
    return PromptConfig(
        rejected_ref=rejected.ref if rejected is not None else None,
        rejected_sha=rejected.sha if rejected is not None else None,
    )


def _recorder(
    session: AgentSession, project: Workplace, message: str, settings: OperatorSettings
) -> Object:
    meta = session.metadata
    callback = None
    if settings.callback_url is not None:
        callback = Callback(
            url=settings.callback_url,
            token_file=f"{TOKEN_FOLDER}/token",
            ca_file=f"{PARTS}/{CALLBACK_CA}" if settings.callback_ca is not None else None,
            heartbeat_seconds=settings.heartbeat_seconds,
        )
    config = RecorderConfig(
        namespace=meta.namespace,
        session=meta.name,
        adapter=session.spec.adapter,
        commit=commit.text(project, message),
        callback=callback,
        checkpoint_seconds=settings.checkpoint_seconds,
        stall_seconds=project.spec.limits.stall_seconds,
        protected=protected_paths(project.spec),
        folders=project.spec.repository.folders,
        documents=session.spec.documents or (),
    )
    return pod.ours(
        RECORDER,
        config,
        settings,
        tmp="recorder",
        memory="512Mi",
        mounts=[
            mount("workspace", WORKSPACE, read_only=True),
            mount("base", "/base", read_only=True),
            mount("stream", STREAM, read_only=True),
            mount("session", SESSION),
            mount("parts", PARTS),
            mount("token", TOKEN_FOLDER, read_only=True),
        ],
    )


def _pusher(session: AgentSession, project: Workplace, settings: OperatorSettings) -> Object:
    repository = project.spec.repository
    config = PusherConfig(
        remote=pod.remote(repository, "work"),
        ref=session.spec.work_ref,
    )
    return pod.ours(
        PUSHER,
        config,
        settings,
        tmp="base",
        memory="512Mi",
        uid=pod.PUSHER_UID,
        mounts=[
            mount("recorder", "/recorder", read_only=True),
            *pod.repository_mounts(repository, "work"),
        ],
    )


def _agent(session: AgentSession, agent: Agent, settings: OperatorSettings) -> Object:
    """The agent's container: the launcher starts the CLI in it."""
    key = f"{pod.SECRETS}/model/{agent.api_key.key}" if agent.api_key is not None else None
    invocation = agents.get(agent.adapter).invocation(
        RunSettings(
            prompt_file=PROMPT,
            model=session.spec.model,
            effort=session.spec.effort,
            config_dir="/etc/agent" if agent.config_map is not None else None,
            base_url=agent.base_url,
            api_key_file=key,
            command=agent.command,
            workdir=WORKSPACE,
            tmp=TMP,
            home=_HOME,
        )
    )
    return pod.container(
        AGENT,
        agent.image,
        [
            *(LAUNCHER, "--session", SESSION, "--stream", STREAM),
            *(("--echo-hides", key) if key else ()),
            *("--", *invocation.argv),
        ],
        mounts=_agent_mounts(agent),
        resources=pod.their_resources(agent.resources),
        env={
            **pod.GIT_TRUSTS_WORKSPACE,
            **invocation.env,
            "HOME": _HOME,
            "TMPDIR": TMP,
        },
        pull=settings.image_pull_policy,
        workdir=WORKSPACE,
    )


def _agent_mounts(agent: Agent) -> list[Object]:
    mounts = [
        mount("workspace", WORKSPACE),
        mount("stream", STREAM),
        mount("session", SESSION, read_only=True),
        mount("home", _HOME),
        mount("tmp", TMP),
    ]
    if agent.config_map is not None:
        mounts.append(mount("agent-config", "/etc/agent"))
    if agent.api_key is not None:
        mounts.append(mount("model-key", f"{pod.SECRETS}/model"))
    return mounts
