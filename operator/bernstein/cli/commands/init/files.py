"""The text of the files, from the answers alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import yaml

from bernstein.api.meta import API_VERSION, PROJECT_KIND
from bernstein.api.programs import account as account_keys
from bernstein.api.project import Project
from bernstein.api.project import parse as parse_project
from bernstein.cli.commands.doctor.projects import named
from bernstein.cli.commands.init.answers import Answers
from bernstein.cli.local import configuration
from bernstein.cli.local.writing import File
from bernstein.kube.resource import SECRETS

PROJECT, SECRETS_FILE, PLAN = "project.yaml", "secrets.yaml", "plan.yaml"
TO_DO = "put the values in place and delete this line"
"""A key that no Secret can have: the API server refuses the file as it was written."""
_OF_LINES = '  # Of several lines: write | in place of "", and the lines below it, indented.'
_WITHOUT_KEY = ("generic", "demo")
"""Adapters whose agents may need no key of a model."""
CONFIG_MAPS: Final[Mapping[str, str]] = {"demo": "demo-scenario"}
"""By adapter: the ConfigMap without which its agent can do nothing."""
_NAMESPACE = "namespace"
_MEANING: Final[Mapping[str, str]] = {
    "credentials.read": "Fetches; used by every checkout.",
    "credentials.work": "Pushes below refs/bernstein/ only.",
    "credentials.deliver": "Pushes verified work to the branch.",
    "forge.token": "Reads the repository, and writes pull requests.",
    "agents[": "Key of the agent's model: treat it as known to the agent.",
    "models[": "Key of the models that judge.",
}


def project_object(answers: Answers) -> dict[str, Any]:
    """The Project as it is applied."""
    repository: dict[str, Any] = {
        "name": "app",
        "url": answers.repository,
        "branch": answers.branch,
        "credentials": {
            account: {"secretName": f"git-{account}"} for account in ("read", "work", "deliver")
        },
    }
    if answers.forge is not None:
        forge = {"type": answers.forge, "token": {"name": "forge-token", "key": "token"}}
        repository["forge"] = forge | ({"api": answers.forge_api} if answers.forge_api else {})
    spec: dict[str, Any] = {
        "repositories": [repository],
        "agents": [_agent(answers)],
        "toolchain": {"image": answers.toolchain_image},
    }
    if answers.gates.gates:
        spec["gates"] = dict(answers.gates.gates)
    if answers.gates.models:
        spec["models"] = [dict(model) for model in answers.gates.models]
    spec["merge"] = {"strategy": answers.merge}
    metadata = {"name": answers.project} | _where(answers)
    return {"apiVersion": API_VERSION, "kind": PROJECT_KIND, "metadata": metadata, "spec": spec}


def _agent(answers: Answers) -> dict[str, Any]:
    name, adapter = answers.agent, answers.agent
    agent: dict[str, Any] = {"name": name, "adapter": adapter, "image": answers.agent_image}
    if answers.agent_command:
        agent["command"] = [*answers.agent_command]
    if answers.model is not None:
        agent["models"] = dict.fromkeys(("opus", "sonnet", "haiku"), answers.model)
    if adapter in CONFIG_MAPS:
        agent["configMap"] = CONFIG_MAPS[adapter]
    if adapter not in _WITHOUT_KEY:
        agent["apiKey"] = {"name": "model-key", "key": "api-key"}
    return agent


def _where(answers: Answers) -> dict[str, str]:
    return {_NAMESPACE: answers.namespace} if answers.namespace else {}


def files(answers: Answers, project: Mapping[str, Any]) -> list[File]:
    """All of them but `bernstein.yaml` where the folder has one."""
    model = parse_project(dict(project))
    found = [
        File(PROJECT, f"{_OF_PROJECT}{_yaml(project)}"),
        File(SECRETS_FILE, _OF_SECRETS + "---\n".join(_secrets(answers, model)), secret=True),
        File(PLAN, _plan(answers)),
    ]
    if answers.file is None:
        here = {"context": answers.context, _NAMESPACE: answers.namespace}
        said = {name: value for name, value in here.items() if value}
        text = yaml.safe_dump(said | {"project": answers.project}, sort_keys=False)
        found.append(File(configuration.FILE, f"{_OF_CONFIGURATION}{text}"))
    return found


def _yaml(value: object) -> str:
    text: str = yaml.safe_dump(
        value, sort_keys=False, default_flow_style=None, width=10_000, allow_unicode=False
    )
    return text


def _secrets(answers: Answers, project: Project) -> Iterator[str]:
    """One for each that the Project names, with its keys and no value."""
    keys: dict[str, dict[str, None]] = {}
    fields: dict[str, list[str]] = {}
    for each in named(project):
        if each.resource == SECRETS:
            keys.setdefault(each.name, {}).update(dict.fromkeys(each.keys))
            fields.setdefault(each.name, []).append(each.field)
    for name, wanted in keys.items():
        rows = [
            f"# {_meaning(fields[name])}",
            *(f"# spec.{field}" for field in fields[name]),
            "apiVersion: v1",
            "kind: Secret",
            f"metadata: {_yaml({'name': name} | _where(answers)).strip()}",
            f"type: {_type(answers, tuple(wanted))}",
            "stringData:",
            *([_OF_LINES] if account_keys.SSH_KEY in wanted else ()),
            *(f'  {key}: ""' for key in wanted),
            f'  {TO_DO}: ""',
        ]
        yield "\n".join(rows) + "\n"


def _meaning(fields: list[str]) -> str:
    return next(
        (words for part, words in _MEANING.items() if any(part in each for each in fields)),
        "Named by the Project.",
    )


def _type(answers: Answers, keys: tuple[str, ...]) -> str:
    if keys != tuple(account_keys.keys(answers.repository)):
        return "Opaque"
    ssh = account_keys.is_ssh(answers.repository)
    return "kubernetes.io/ssh-auth" if ssh else "kubernetes.io/basic-auth"


def _plan(answers: Answers) -> str:
    budget = f"{_OF_BUDGET}budget: 1\n" if answers.tells_tokens else ""
    return _PLAN.format(budget=budget)


_OF_PROJECT = """\
# What an administrator offers the Plans of a namespace. Fields: `bernstein schema project`,
# or `kubectl explain project.spec`. Apply it once its Secrets are there.
"""
_OF_SECRETS = """\
# Accounts and keys that the Project names. As it is, the API server refuses the file: put the
# values in place, delete the line that says so, apply it, and delete it. It is nothing to commit.
"""
_OF_CONFIGURATION = """\
# To which cluster, namespace and Project this folder belongs: `bernstein` reads it.
"""
_OF_BUDGET = "# US dollars: what is spent is counted by the prices of the Project.\n"
_PLAN = """\
# A first Plan, of one small step: `bernstein run plan.yaml`.
name: First steps
description: Shows that agents, gates and delivery work here.
{budget}max_agents: 1
stages:
  - name: hello
    steps:
      - title: Write HELLO.md
        description: A page of one paragraph that says what this repository is for.
        role: docs
        scope: small
        complexity: low
        model: haiku
        effort: low
        estimated_minutes: 5
        files: [HELLO.md]
        completion_signals:
          - {{type: path_exists, path: HELLO.md}}
"""
