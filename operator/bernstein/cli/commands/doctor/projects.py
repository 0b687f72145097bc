"""The Projects of the namespace, and the Secrets and ConfigMaps that they name."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from bernstein.api.meta import ConditionType
from bernstein.api.programs import account as account_keys
from bernstein.api.project import Project
from bernstein.api.projects.accounts import accounts
from bernstein.api.projects.knowledge import Knowledge, KnowledgeKey
from bernstein.api.reasons import Reason
from bernstein.attestation.envelope import KeyInvalid, private_key, public_key
from bernstein.cli.cluster import Cluster
from bernstein.cli.commands.doctor.finding import Finding, Outcome, unreadable
from bernstein.cli.output.notes import ready_message
from bernstein.core import conditions
from bernstein.core.prompts import knowledge
from bernstein.core.reasons import policy
from bernstein.core.waiting import parted
from bernstein.kube.errors import Forbidden, NotFound
from bernstein.kube.resource import CONFIG_MAPS, SECRETS, Object, Resource

_CREATE = "create it in the Project's namespace, or correct the field"
_APPLY = (
    "make its Secrets and apply one such as this, with your own names: `bernstein init` writes "
    "both; the page 'Set up a team' goes through it"
)
_SHORTEN = "shorten or correct what is under its key, or take it out of spec.knowledge"
_WITHOUT_BLANKS = "make it anew without, such as of a file that `printf %s` has written"
_EXAMPLE = """\
apiVersion: bernstein.dev/v1alpha1
kind: Project
metadata:
  name: default
spec:
  repositories:
    - name: app
      url: https://git.example.com/team-a/app.git
      branch: main
      credentials:
        read: {secretName: git-read}
        work: {secretName: git-work}
        deliver: {secretName: git-deliver}
  agents:
    - name: codex
      adapter: codex
      image: registry.example.com/bernstein-agent-codex:0.1.0
      apiKey: {name: model-key, key: api-key}
  toolchain:
    image: registry.example.com/toolchain:0.1.0
  merge:
    strategy: direct
"""
"""The least that a Project says."""


class Named(NamedTuple):
    """An object that a field of a Project names."""

    field: str
    resource: Resource
    name: str
    keys: tuple[str, ...] = ()
    """What must be in it."""
    takes: Callable[[bytes], object] | None = None
    """Reads what is under its key. Raises KeyInvalid, whose text quotes nothing of that."""
    line_ends: bytes | None = None
    """Of what is sent as it is: those at its end that are left out. None: it is not sent so."""
    untold: Callable[[Object], str] | None = None
    """Why agents are not told what is under its key; "": they are."""


async def look(cluster: Cluster, projects: Sequence[Project]) -> list[Finding]:
    if not projects:
        return [none_in(cluster.namespace)]
    findings: list[Finding] = []
    for project in projects:
        findings.append(readiness(project))
        findings += warnings(project)
        findings += await _objects(cluster, project)
    return findings


def none_in(namespace: str) -> Finding:
    text = f"there is none in namespace '{namespace}'"
    details = tuple(_EXAMPLE.splitlines())
    return Finding("project", Outcome.BAD, text, _APPLY, details=details)


def readiness(project: Project) -> Finding:
    """Whether the operator takes work for it."""
    check, name = "project", project.metadata.name
    ready = conditions.find(project.status.conditions, ConditionType.READY)
    if ready is None or project.status.observed_generation != project.metadata.generation:
        text = f"'{name}' has not been looked at by the operator since it was changed"
        return Finding(check, Outcome.BAD, text, "see whether the operator works", name)
    if ready.status != "True":
        cause, remedy = ready_message(ready, project)
        if ready.status == "Unknown":
            text = f"'{name}' may be ready or not ({ready.reason}): {cause}"
            return Finding(check, Outcome.WARNING, text, remedy or "look again", name)
        text = f"'{name}' is not ready ({ready.reason}): {cause}"
        return Finding(check, Outcome.BAD, text, remedy or _describe(name), name)
    return Finding(check, Outcome.GOOD, f"'{name}' is ready", subject=name)


def _describe(name: str) -> str:
    """What helps where nothing better is known."""
    return f"`kubectl describe bproj {name}` shows its conditions and Events"


def warnings(project: Project) -> list[Finding]:
    """Conditions that tell of a weakness, or of what does not get on and keeps nothing back."""
    kinds = (
        ConditionType.WORK_CREDENTIAL_TOO_STRONG,
        ConditionType.READ_CREDENTIAL_TOO_STRONG,
        ConditionType.REFS_NOT_DELETED,
        ConditionType.PULL_REQUESTS_NOT_CLOSED,
        ConditionType.CACHE_NOT_FILLED,
    )
    found = (conditions.find(project.status.conditions, kind) for kind in kinds)
    name = project.metadata.name
    told = [parted(each.message) for each in found if each is not None and each.status == "True"]
    said = [(f"'{name}': {message.rstrip('.')}", remedy) for message, remedy in told]
    return [
        Finding("project", Outcome.WARNING, text, remedy or _describe(name), name)
        for text, remedy in said
    ]


def named(project: Project) -> Iterator[Named]:
    """The Secrets and ConfigMaps that pods of the Project need."""
    spec = project.spec
    for each in accounts(spec):
        field = f"repositories[{each.place}].credentials.{each.name}.secretName"
        keys = account_keys.keys(each.repository.url)
        ends = None if account_keys.is_ssh(each.repository.url) else b"\r\n"
        yield Named(field, SECRETS, each.secret.secret_name, keys, line_ends=ends)
    yield from _beside_accounts(project)
    if (more := spec.network.ca) is not None:
        yield Named("network.ca.name", CONFIG_MAPS, more.name, (more.key,))
    for number, agent in enumerate(spec.agents):
        if agent.api_key is not None:
            key = agent.api_key
            field = f"agents[{number}].apiKey.name"
            yield Named(field, SECRETS, key.name, (key.key,), line_ends=b"\n")
        if agent.config_map is not None:
            yield Named(f"agents[{number}].configMap", CONFIG_MAPS, agent.config_map)
    yield from _told(project)
    yield from _that_sign(project)
    for number, model in enumerate(spec.models):
        yield Named(f"models[{number}].key.name", SECRETS, model.key.name, (model.key.key,))
        if model.ca is not None:
            yield Named(f"models[{number}].ca.name", CONFIG_MAPS, model.ca.name, (model.ca.key,))
    yield from _of_gates(project)
    for number, name in enumerate(spec.pods.image_pull_secrets):
        yield Named(f"pods.imagePullSecrets[{number}]", SECRETS, name)


def _beside_accounts(project: Project) -> Iterator[Named]:
    """What repositories name besides, each with its forge."""
    for number, repository in enumerate(project.spec.repositories):
        if (ca := repository.ca) is not None:
            yield Named(f"repositories[{number}].ca.name", CONFIG_MAPS, ca.name, (ca.key,))
        if (forge := repository.forge) is not None:
            field, token = f"repositories[{number}].forge.token.name", forge.token
            yield Named(field, SECRETS, token.name, (token.key,))


def _told(project: Project) -> Iterator[Named]:
    for number, entry in enumerate(project.spec.knowledge):
        if (source := entry.config_map) is not None:
            field, why = f"knowledge[{number}].configMap.name", partial(_why_untold, entry, source)
            yield Named(field, CONFIG_MAPS, source.name, (source.key,), untold=why)


def _why_untold(entry: Knowledge, source: KnowledgeKey, obj: Object) -> str:
    return knowledge.of_config_map(entry.name, source, obj).why


def _that_sign(project: Project) -> Iterator[Named]:
    if (commits := project.spec.merge.signing) is not None:
        keys = (commits.key.key, *([commits.public_key] if commits.public_key else []))
        yield Named("merge.signing.key.name", SECRETS, commits.key.name, keys)
    if (signing := project.spec.attestation) is None:
        return
    key, public = signing.key, signing.public_key
    yield Named("attestation.key.name", SECRETS, key.name, (key.key,), private_key)
    if public is not None:
        yield Named("attestation.publicKey", SECRETS, key.name, (public,), public_key)


def _of_gates(project: Project) -> Iterator[Named]:
    for number, gate in enumerate(project.spec.gates.pipeline):
        if gate.database is not None and gate.database.ca is not None:
            ca, field = gate.database.ca, f"gates.pipeline[{number}].database.ca.name"
            yield Named(field, CONFIG_MAPS, ca.name, (ca.key,))


def _unusable(each: Named, obj: Object, project: str) -> list[Finding]:
    """What is wrong with what is under its key."""
    if each.takes is None:
        return []
    (key,) = each.keys
    try:
        each.takes(_decoded(obj["data"][key]))
    except KeyInvalid as problem:
        text = f"'{key}' of Secret '{each.name}' of '{project}' cannot be used: {problem}"
        remedy = policy(Reason.ATTESTATION_KEY_INVALID).remedy
        return [Finding("objects", Outcome.BAD, text, remedy, project)]
    return []


def _blanks(each: Named, obj: Object, project: str) -> list[Finding]:
    """What is sent with white space at an end that mostly nobody knows of."""
    if each.line_ends is None:
        return []
    sent = {key: _decoded(obj["data"][key]).rstrip(each.line_ends) for key in each.keys}
    keys = " and ".join(f"'{key}'" for key, value in sent.items() if value != value.strip())
    if not keys:
        return []
    text = f"{keys} of Secret '{each.name}' of '{project}': white space at an end, which is sent"
    return [Finding("objects", Outcome.WARNING, f"{text}, too", _WITHOUT_BLANKS, project)]


def _untold(each: Named, obj: Object, project: str) -> list[Finding]:
    """What agents are not told, although it is there."""
    why = each.untold(obj) if each.untold is not None else ""
    if not why:
        return []
    text = f"ConfigMap '{each.name}' of '{project}' is not told (spec.{each.field}): {why}"
    return [Finding("objects", Outcome.WARNING, text, _SHORTEN, project)]


def _decoded(value: str) -> bytes:
    """Raises KeyInvalid."""
    try:
        return base64.b64decode(value, validate=True)
    except ValueError:
        raise KeyInvalid("it holds no base64") from None


async def _objects(cluster: Cluster, project: Project) -> list[Finding]:
    """What is missing of them, and whether all could be looked at. No value is shown."""
    name = project.metadata.name
    findings: list[Finding] = []
    hidden: set[str] = set()
    for each in named(project):
        kind = each.resource.kind
        try:
            obj = await cluster.client.get(each.resource, each.name, cluster.namespace)
        except Forbidden:
            hidden.add(f"{kind}s")
            continue
        except NotFound:
            text = f"{kind} '{each.name}' of '{name}' does not exist (spec.{each.field})"
            findings.append(Finding("objects", Outcome.BAD, text, _CREATE, name))
            continue
        lacks = [key for key in each.keys if key not in (obj.get("data") or {})]
        if lacks:
            text = f"{kind} '{each.name}' of '{name}' has no key {', '.join(lacks)}"
            text = f"{text} (spec.{each.field})"
            findings.append(Finding("objects", Outcome.BAD, text, "add it", name))
            continue
        findings += _unusable(each, obj, name)
        findings += _blanks(each, obj, name)
        findings += _untold(each, obj, name)
    if hidden:
        what = f"the {' and '.join(sorted(hidden))} that '{name}' names"
        findings.append(unreadable("objects", what, name))
    if not findings:
        text = f"all Secrets and ConfigMaps that '{name}' names exist"
        findings.append(Finding("objects", Outcome.GOOD, text, subject=name))
    return findings
