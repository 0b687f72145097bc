"""What `bernstein doctor` says of Projects, and of what they name."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest
import yaml
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.types import PrivateKeyTypes
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from bernstein.api.meta import Condition
from bernstein.api.project import Probe, ProbeFinding, Project, ProjectStatus
from bernstein.api.projects.refs import RefPruning
from bernstein.cli.cluster import Cluster
from bernstein.cli.commands.doctor import projects
from bernstein.cli.commands.doctor.finding import Outcome
from bernstein.core.diagnosis import Diagnosis
from bernstein.core.projects import readiness
from bernstein.core.sanitise import quoting
from bernstein.kube.client import Client
from bernstein.kube.resource import CONFIG_MAPS, SECRETS
from tests.unit.core import objects
from tests.unit.core.objects import NAMESPACE, NOW
from tests.unit.kube.apiserver import ApiServer

ROOT = Path(__file__).parents[5]
BASIC = {"username": "dQ==", "password": "c2VjcmV0"}


SOUND = Probe(generation=1, number=0, settled=True)


def seen(
    project: Project, problem: Diagnosis | None = None, probe: Probe | None = SOUND
) -> Project:
    """As the operator has written its status."""
    status = readiness.status(project, 0, problem, probe, NOW)
    return project.model_copy(update={"status": status})


def accounts(api: ApiServer, *names: str, data: dict[str, str] | None = None) -> None:
    for name in names:
        api.put(SECRETS, f"git-{name}", NAMESPACE, data=BASIC if data is None else data)


async def look(client: Client, *which: Project) -> list[tuple[str, str, str]]:
    found = await projects.look(Cluster(client, NAMESPACE), which)
    return [(each.check, each.outcome.value, each.message) for each in found]


async def test_a_project_that_is_ready_and_has_its_secrets_is_good(
    api: ApiServer, client: Client
) -> None:
    accounts(api, "read", "work", "deliver")

    assert await look(client, seen(objects.project())) == [
        ("project", "good", "'default' is ready"),
        ("objects", "good", "all Secrets and ConfigMaps that 'default' names exist"),
    ]


async def test_a_namespace_without_a_project_is_told(api: ApiServer, client: Client) -> None:
    assert await look(client) == [("project", "bad", f"there is none in namespace '{NAMESPACE}'")]


def test_who_has_no_project_is_shown_a_small_one_that_can_be_applied() -> None:
    found = projects.none_in(NAMESPACE)

    example = Project.model_validate(yaml.safe_load("\n".join(found.details)))
    assert {"git-read", "git-work", "git-deliver"} < {each.name for each in projects.named(example)}
    assert found.remedy.startswith("make its Secrets and apply one such as this")
    title, *_ = (ROOT / "docs/how-to/set-up-a-team.md").read_text().splitlines()
    assert f"the page '{title.removeprefix('# ')}'" in found.remedy


def test_a_project_that_is_not_ready_says_why_and_what_helps() -> None:
    problem = Diagnosis("NetworkPolicyRefused", "networkpolicies is forbidden")

    found = projects.readiness(seen(objects.project(), problem))

    assert found.outcome is Outcome.BAD
    assert "NetworkPolicyRefused" in found.message
    assert "networkpolicies is forbidden" in found.message
    assert found.remedy.startswith("Correct the Project's network")


def test_what_says_no_remedy_is_shown_by_a_command() -> None:
    words = {"message": "it is not", "last_transition_time": NOW}
    conditions = (
        Condition(type="Ready", status="False", reason="Unheard", **words),
        Condition(type="CacheNotFilled", status="True", reason="Unheard", **words),
    )
    status = ProjectStatus(conditions=conditions, observed_generation=1)
    project = objects.project().model_copy(update={"status": status})

    told = [projects.readiness(project), *projects.warnings(project)]

    shows = "`kubectl describe bproj default` shows its conditions and Events"
    assert [each.remedy for each in told] == [shows, shows]


def test_what_a_git_server_said_to_a_probe_is_shown_beside_it() -> None:
    said = quoting("it was refused", "\x1b[31mfatal:\nno such user", 250)
    found = [
        ProbeFinding(subject=each, reason="RepositoryAuthFailed", message=said)
        for each in ("read", "work")
    ]

    told = projects.readiness(
        seen(objects.project(), probe=SOUND.model_copy(update={"findings": tuple(found)}))
    )

    assert told.message == (
        "'default' is not ready (RepositoryAuthFailed): "
        "read and work: it was refused: fatal: no such user."
    )


def test_what_a_server_said_while_nothing_could_be_tried_is_shown_too() -> None:
    said = quoting("it broke", "x" * 1000, 380)
    silent = ProbeFinding(subject="probe", reason="InfrastructureError", message=said)
    probe = Probe(generation=1, number=0, silent=silent)

    told = projects.readiness(seen(objects.project(), probe=probe))

    assert told.outcome is Outcome.WARNING
    assert "could not be tried: it broke: xxx" in told.message
    assert len(told.message) < 400


def test_a_project_that_nobody_looks_at_is_told() -> None:
    never, changed = objects.project(), objects.project(generation=2)
    stale = changed.model_copy(update={"status": ProjectStatus(observed_generation=1)})

    for project in (never, stale):
        assert "has not been looked at" in projects.readiness(project).message


def test_a_credential_that_is_too_strong_is_warned_of() -> None:
    same = {a: {"secretName": "git"} for a in ("read", "work", "deliver")}
    repository = {"name": "app", "url": "https://git.example/app.git", "credentials": same}

    found, other = projects.warnings(seen(objects.project(repositories=[repository])))

    assert found.outcome is other.outcome is Outcome.WARNING
    assert "work and deliver name the same Secret" in found.message
    assert "read and deliver name the same Secret" in other.message
    assert found.remedy == "Give work an account that may push to refs/bernstein/ only."
    assert other.remedy == "Give read an account that may only fetch."


def test_refs_that_are_not_deleted_are_warned_of_with_what_helps() -> None:
    words = {"reason": "RepositoryAuthFailed", "message": "the account 'work' is refused"}
    refs = RefPruning.model_validate({"repository": "app", **words})
    project = objects.project()
    told = readiness.Told((refs,))
    status = readiness.status(project, 0, None, SOUND, NOW, told)

    (found,) = projects.warnings(project.model_copy(update={"status": status}))

    assert found.outcome is Outcome.WARNING
    assert found.message == (
        "'default': refs that nobody needs any more are not deleted: the account 'work' is refused"
    )
    assert "'git-work' (spec.repositories[0].credentials.work.secretName)" in found.remedy


async def test_a_secret_or_key_that_is_missing_is_named_with_its_field(
    api: ApiServer, client: Client
) -> None:
    accounts(api, "read")
    accounts(api, "deliver", data={"username": "dQ=="})

    _, *found = await look(client, seen(objects.project()))

    field = "spec.repositories[0].credentials.{}.secretName"
    assert found == [
        (
            "objects",
            "bad",
            f"Secret 'git-work' of 'default' does not exist ({field.format('work')})",
        ),
        (
            "objects",
            "bad",
            f"Secret 'git-deliver' of 'default' has no key password ({field.format('deliver')})",
        ),
    ]


async def test_with_ssh_a_secret_needs_a_key_and_the_host_keys_of_the_server(
    api: ApiServer, client: Client
) -> None:
    (repository,) = (each.dump() for each in objects.project().spec.repositories)
    repository["url"] = "ssh://git@git.example/app.git"
    accounts(api, "read", "deliver", data={"ssh-privatekey": "a2V5", "known_hosts": "aG9zdA=="})
    accounts(api, "work", data={"ssh-privatekey": "a2V5"})

    _, *found = await look(client, seen(objects.project(repositories=[repository])))

    field = "spec.repositories[0].credentials.work.secretName"
    text = f"Secret 'git-work' of 'default' has no key known_hosts ({field})"
    assert found == [("objects", "bad", text)]


@pytest.mark.parametrize(
    ("password", "is_told"),
    [(b"secret", False), (b"secret\r\n", False), (b"secret \n", True), (b"\tsecret", True)],
)
async def test_white_space_at_an_end_of_what_is_sent_is_told(
    api: ApiServer, client: Client, password: bytes, is_told: bool
) -> None:
    accounts(api, "read", "deliver")
    accounts(api, "work", data={**BASIC, "password": base64.b64encode(password).decode()})

    (told,) = (await look(client, seen(objects.project())))[1:]

    assert (told[1] == "warning") is is_told
    assert ("'password' of Secret 'git-work' of 'default': white space" in told[2]) is is_told
    assert "secret" not in told[2]


@pytest.mark.parametrize(("key", "is_told"), [(b"sk-1\n", False), (b"sk-1\r\n", True)])
async def test_of_an_agents_key_a_carriage_return_is_sent_too(
    api: ApiServer, client: Client, key: bytes, is_told: bool
) -> None:
    accounts(api, "read", "work", "deliver")
    data = {"api-key": base64.b64encode(key).decode()}
    api.put(SECRETS, "model-key", NAMESPACE, data=data)
    (agent,) = (each.dump() for each in objects.project().spec.agents)
    agent["apiKey"] = {"name": "model-key", "key": "api-key"}

    (told,) = (await look(client, seen(objects.project(agents=[agent]))))[1:]

    assert ("'api-key' of Secret 'model-key' of 'default': white space" in told[2]) is is_told


async def test_what_helps_where_a_secret_is_missing_is_to_make_it(
    api: ApiServer, client: Client
) -> None:
    accounts(api, "read", "deliver")

    *_, found = await projects.look(Cluster(client, NAMESPACE), [seen(objects.project())])

    assert found.record()["remedy"] == "create it in the Project's namespace, or correct the field"


async def test_the_authority_of_a_gates_database_is_looked_for(
    api: ApiServer, client: Client
) -> None:
    accounts(api, "read", "work", "deliver")
    database = {"url": "https://osv.example/v1/query", "ca": {"name": "osv-ca"}}
    gates = {"pipeline": [{"name": "lint"}, {"name": "dep_audit", "database": database}]}

    _, *found = await look(client, seen(objects.project(gates=gates)))

    field = "gates.pipeline[1].database.ca.name"
    assert found == [
        ("objects", "bad", f"ConfigMap 'osv-ca' of 'default' does not exist (spec.{field})")
    ]


async def test_no_value_of_a_secret_is_shown(api: ApiServer, client: Client) -> None:
    accounts(api, "read", "work", "deliver")

    assert "c2VjcmV0" not in str(await look(client, seen(objects.project())))


async def test_what_may_not_be_read_is_unknown_and_the_rest_is_looked_at(
    api: ApiServer, client: Client
) -> None:
    agent: dict[str, Any] = {"name": "demo", "adapter": "demo", "image": "agent:1"}
    project = objects.project(agents=[agent | {"configMap": "settings"}])
    api.fault = lambda call: 403 if call.plural == "secrets" else None

    _, *found = await look(client, seen(project))

    assert found == [
        (
            "objects",
            "bad",
            "ConfigMap 'settings' of 'default' does not exist (spec.agents[0].configMap)",
        ),
        ("objects", "unknown", "you may not read the Secrets that 'default' names"),
    ]


def test_a_project_whose_credentials_are_being_tried_is_a_warning_no_more() -> None:
    found = projects.readiness(seen(objects.project(), probe=None))

    assert found.outcome is Outcome.WARNING
    assert "Probing" in found.message


def test_what_the_probe_has_found_is_told_with_what_helps() -> None:
    wrong = ProbeFinding(subject="work", reason="CredentialRefused", message="403")

    found = projects.readiness(
        seen(objects.project(), probe=SOUND.model_copy(update={"findings": (wrong,)}))
    )

    assert found.outcome is Outcome.BAD
    assert "CredentialRefused" in found.message
    assert "work: 403" in found.message
    assert found.remedy.startswith("Let the account push")


async def test_what_a_forge_and_the_network_are_given_is_looked_for(
    api: ApiServer, client: Client
) -> None:
    accounts(api, "read", "work", "deliver")
    account = {a: {"secretName": f"git-{a}"} for a in ("read", "work", "deliver")}
    forge = {"type": "gitea", "token": {"name": "forge", "key": "token"}}
    repository = {"name": "app", "url": "https://git.example/app.git", "credentials": account}
    project = objects.project(
        repositories=[repository | {"forge": forge}],
        network={"ca": {"name": "authorities", "key": "ca.crt"}},
        knowledge=[
            {"name": "layers", "path": "docs/layers.md"},
            {"name": "rules", "configMap": {"name": "house", "key": "rules.md"}},
            {"name": "terms", "configMap": {"name": "glossary", "key": "terms.md"}},
            {"name": "long", "configMap": {"name": "long", "key": "a.md"}},
        ],
    )
    api.put(CONFIG_MAPS, "glossary", "team", data={"other.md": "x"})
    api.put(CONFIG_MAPS, "long", "team", data={"a.md": "x" * 70_000})

    said = [message for _, _, message in await look(client, seen(project))]

    assert said[1:] == [
        "Secret 'forge' of 'default' does not exist (spec.repositories[0].forge.token.name)",
        "ConfigMap 'authorities' of 'default' does not exist (spec.network.ca.name)",
        "ConfigMap 'house' of 'default' does not exist (spec.knowledge[1].configMap.name)",
        "ConfigMap 'glossary' of 'default' has no key terms.md (spec.knowledge[2].configMap.name)",
        "ConfigMap 'long' of 'default' is not told (spec.knowledge[3].configMap.name): "
        "70,000 bytes are too many for a prompt: 65,536 at most",
    ]


# --- the key of attestations ----------------------------------------------------------------------


def signing(key: str = "key.pem") -> Project:
    return objects.project(attestation={"key": {"name": "signing", "key": key}})


def pem(key: PrivateKeyTypes) -> bytes:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


async def looked_at(api: ApiServer, client: Client, content: bytes | None) -> tuple[str, str]:
    """What is said where the key's Secret holds this; None: there is no Secret."""
    accounts(api, "read", "work", "deliver")
    if content is not None:
        data = {"key.pem": base64.b64encode(content).decode()}
        api.put(SECRETS, "signing", NAMESPACE, data=data)
    _, (check, outcome, message) = await look(client, seen(signing()))
    assert check == "objects"
    return outcome, message


async def test_a_key_that_signs_is_good(api: ApiServer, client: Client) -> None:
    outcome, _ = await looked_at(api, client, pem(Ed25519PrivateKey.generate()))

    assert outcome == "good"


async def test_the_missing_secret_of_the_key_is_named_with_its_field(
    api: ApiServer, client: Client
) -> None:
    field = "spec.attestation.key.name"
    text = f"Secret 'signing' of 'default' does not exist ({field})"

    assert await looked_at(api, client, None) == ("bad", text)


async def test_a_secret_without_the_key_is_told(api: ApiServer, client: Client) -> None:
    accounts(api, "read", "work", "deliver")
    api.put(SECRETS, "signing", NAMESPACE, data={"key.pem": ""})

    _, (_, outcome, message) = await look(client, seen(signing("other.pem")))

    text = "Secret 'signing' of 'default' has no key other.pem (spec.attestation.key.name)"
    assert (outcome, message) == ("bad", text)


@pytest.mark.parametrize(
    ("content", "holds"),
    [
        (pem(generate_private_key(SECP256R1())), "it holds a private key, but no Ed25519 one"),
        (b"no-key-at-all", "it holds no private key as PEM (PKCS #8)"),
    ],
)
async def test_a_key_of_another_type_is_told_and_not_shown(
    api: ApiServer, client: Client, content: bytes, holds: str
) -> None:
    outcome, message = await looked_at(api, client, content)

    assert outcome == "bad"
    assert message == f"'key.pem' of Secret 'signing' of 'default' cannot be used: {holds}"


async def test_a_private_key_in_the_place_of_the_public_one_is_told(
    api: ApiServer, client: Client
) -> None:
    key = pem(Ed25519PrivateKey.generate())
    data = {name: base64.b64encode(key).decode() for name in ("key.pem", "key.pub")}
    accounts(api, "read", "work", "deliver")
    api.put(SECRETS, "signing", NAMESPACE, data=data)
    names = {"key": {"name": "signing", "key": "key.pem"}, "publicKey": "key.pub"}

    _, (_, outcome, message) = await look(client, seen(objects.project(attestation=names)))

    assert (outcome, message) == (
        "bad",
        "'key.pub' of Secret 'signing' of 'default' cannot be used: it holds a private key",
    )


async def test_what_is_no_base64_is_no_key(api: ApiServer, client: Client) -> None:
    accounts(api, "read", "work", "deliver")
    api.put(SECRETS, "signing", NAMESPACE, data={"key.pem": "é"})

    _, (_, outcome, message) = await look(client, seen(signing()))

    assert outcome == "bad"
    assert "cannot be used" in message
