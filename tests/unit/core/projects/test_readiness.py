"""Whether a Project is sound, and whether it may be used."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api.project import Probe, ProbeFinding, Project, ProjectStatus
from bernstein.core import conditions
from bernstein.core.diagnosis import Diagnosis
from bernstein.core.projects.probing import FINDINGS
from bernstein.core.projects.readiness import not_ready, status
from bernstein.pods.git.errors import from_output
from tests.unit.core.objects import NOW, at, project, told

TOO_STRONG = (
    "Plans of this namespace may use it; its work account is too strong, "
    "see the condition WorkCredentialTooStrong"
)
SOUND = Probe(generation=1, number=0, settled=True)


def ready(found: ProjectStatus) -> tuple[str, str, str]:
    condition = conditions.find(found.conditions, "Ready")
    assert condition is not None
    return condition.status, condition.reason, condition.message


def with_status(found: ProjectStatus, of: Project | None = None) -> Project:
    return (of or project()).model_copy(update={"status": found})


def finding(reason: str, subject: str = "work", message: str = "it is so") -> ProbeFinding:
    return ProbeFinding(subject=subject, reason=reason, message=message)


def probed(*found: ProbeFinding, **more: Any) -> Probe:
    return SOUND.model_copy(update={"findings": found, **more})


def test_a_project_says_how_many_agents_run_and_is_quiet_when_nothing_changed() -> None:
    first = status(project(), 3, None, SOUND, NOW)

    assert (first.running, first.observed_generation) == (3, 1)
    assert told(first.conditions) == {"Ready": ("True", "Accepted")}
    assert status(with_status(first), 3, None, SOUND, at(60)) == first


def test_one_account_for_work_and_delivery_is_a_warning() -> None:
    same = {a: {"secretName": "git"} for a in ("read", "work", "deliver")}
    repository = {"name": "app", "url": "https://git.example/app.git", "credentials": same}
    weak = project(repositories=[repository])

    warned = status(weak, 0, None, SOUND, NOW)
    for kind in ("WorkCredentialTooStrong", "ReadCredentialTooStrong"):
        assert told(warned.conditions)[kind] == ("True", "SameSecret")
    assert ready(warned) == ("True", "Accepted", TOO_STRONG)

    mended = status(with_status(warned), 0, None, SOUND, NOW)
    assert told(mended.conditions).keys() == {"Ready"}


def test_one_account_for_checkouts_and_delivery_is_a_warning() -> None:
    secrets = {"read": "git", "work": "git-work", "deliver": "git"}
    names = {account: {"secretName": secret} for account, secret in secrets.items()}
    repository = {"name": "app", "url": "https://git.example/app.git", "credentials": names}
    warned = status(project(repositories=[repository]), 0, None, SOUND, NOW)

    assert told(warned.conditions) == {
        "Ready": ("True", "Accepted"),
        "ReadCredentialTooStrong": ("True", "SameSecret"),
    }
    assert ready(warned)[2].endswith("see the condition ReadCredentialTooStrong")
    mended = status(with_status(warned), 0, None, SOUND, NOW)
    assert told(mended.conditions).keys() == {"Ready"}


def test_a_work_account_that_may_push_to_the_branch_is_a_warning_and_the_project_ready() -> None:
    warned = status(project(), 0, None, probed(too_strong=True), NOW)

    assert told(warned.conditions) == {
        "Ready": ("True", "Accepted"),
        "WorkCredentialTooStrong": ("True", "MayPush"),
    }
    assert ready(warned) == ("True", "Accepted", TOO_STRONG)
    mended = status(with_status(warned), 0, None, SOUND, NOW)
    assert told(mended.conditions).keys() == {"Ready"}
    assert ready(mended)[2] == "Plans of this namespace may use it"


def test_ready_tells_of_missing_secrets_an_unreachable_repository_and_a_too_strong_account() -> (
    None
):
    found = probed(
        finding("RepositoryUnreachable", "read", "the git server cannot be used"),
        finding("SecretNotFound", "deliver", 'secret "git-deliver" not found'),
        too_strong=True,
    )

    truth, _, message = ready(status(project(), 0, None, found, NOW))

    assert truth == "False"
    assert "read: the git server cannot be used; deliver: secret" in message
    assert ready(status(project(), 0, None, probed(too_strong=True), NOW))[2] == TOO_STRONG


def test_a_project_with_a_problem_is_not_ready_says_what_helps_and_recovers() -> None:
    problem = Diagnosis("NetworkPolicyRefused", "networkpolicies is forbidden")
    told_of = status(project(), 0, problem, SOUND, NOW)
    broken = with_status(told_of)

    assert told(told_of.conditions)["Ready"] == ("False", "NetworkPolicyRefused")
    said = not_ready(broken)
    assert said is not None
    assert "Project 'default' is not ready: networkpolicies is forbidden. Remedy: " in said
    mended = status(broken, 0, None, SOUND, NOW)
    assert not_ready(with_status(mended)) is None


@pytest.mark.parametrize("probe", [None, Probe(generation=1, number=0, at_work=True)])
def test_until_its_credentials_were_tried_nobody_knows_and_it_may_be_used(
    probe: Probe | None,
) -> None:
    found = status(project(), 0, None, probe, NOW)

    assert ready(found)[:2] == ("Unknown", "Probing")
    assert not_ready(with_status(found)) is None


def test_what_was_found_of_an_older_generation_says_nothing_of_this_one() -> None:
    old = probed(finding("SecretNotFound"))

    found = status(project(generation=2), 0, None, old, NOW)

    assert ready(found)[:2] == ("Unknown", "Probing")


@pytest.mark.parametrize("reason", sorted(FINDINGS))
def test_what_a_probe_finds_is_told_with_what_helps_and_keeps_nobody_back(reason: str) -> None:
    text = 'secret "git-work" not found'
    found = status(project(), 0, None, probed(finding(reason, message=text)), NOW)

    truth, word, message = ready(found)
    assert (truth, word) == ("False", reason)
    assert message.startswith(f"work: {text}. Remedy: ")
    assert not_ready(with_status(found)) is None


def test_the_remedy_names_the_field_of_a_missing_secret() -> None:
    missing = finding("SecretNotFound", message='secret "git-work" not found')

    *_, message = ready(status(project(), 0, None, probed(missing), NOW))

    assert "spec.repositories[0].credentials.work.secretName" in message


def test_several_findings_are_told_together_and_the_first_gives_the_reason() -> None:
    both = [finding("RepositoryAuthFailed", "read"), finding("SecretNotFound", "work")]

    truth, word, message = ready(status(project(), 0, None, probed(*both), NOW))

    assert (truth, word) == ("False", "RepositoryAuthFailed")
    assert message.startswith("read: it is so; work: it is so. Remedy: Check the url")
    assert "Create the Secret" in message


def of_git(words: str, account: str = "") -> str:
    return from_output(words.encode(), pushing=False, host="git.example", account=account).message


def test_what_several_accounts_meet_is_told_once() -> None:
    refused = of_git("fatal: Failed to connect to git.example")
    met = [finding("RepositoryUnreachable", each, refused) for each in ("read", "work", "deliver")]

    *_, message = ready(status(project(), 0, None, probed(*met), NOW))

    cause = "the git server at 'git.example' cannot be used: nothing answers there"
    told = f"read, work and deliver: {cause}; status.probe has its words. Remedy: "
    assert message.startswith(told)


def test_a_refused_login_names_the_secret_and_its_field() -> None:
    words = "remote: Authentication failed"
    met = [
        finding("RepositoryAuthFailed", each, of_git(words, each)) for each in ("work", "deliver")
    ]

    *_, message = ready(status(project(), 0, None, probed(*met), NOW))

    assert message.startswith("work and deliver: this account does not see the repository at ")
    account = "spec.repositories[0].credentials"
    assert message.endswith(
        "user name and password, or the SSH key, in the Secret that the Project names: "
        f"'git-work' ({account}.work.secretName), 'git-deliver' ({account}.deliver.secretName)."
    )


def test_an_untrusted_host_key_names_the_secret_that_lacks_it() -> None:
    words = "Host key verification failed.\r\nfatal: Could not read from remote repository."
    met = finding("HostKeyUntrusted", "work", of_git(words, "work"))

    truth, reason, message = ready(status(project(), 0, None, probed(met), NOW))

    assert (truth, reason) == ("False", "HostKeyUntrusted")
    assert "a host key that known_hosts of this account does not hold" in message
    field = "spec.repositories[0].credentials.work.secretName"
    assert message.endswith(f"in the Secret that the Project names: 'git-work' ({field}).")


def test_where_the_certificate_is_not_trusted_the_authority_alone_is_to_be_looked_at() -> None:
    words = "fatal: unable to access: server certificate verification failed. CAfile: none"
    untrusted = finding("RepositoryUnreachable", "read", of_git(words))

    *_, message = ready(status(project(), 0, None, probed(untrusted), NOW))

    assert message.endswith(
        "Remedy: Let repositories[0].ca of the Project name the CA that has signed the git "
        "server's certificate, which must be valid, and for the host in the url."
    )


def test_each_cause_of_an_unreachable_server_has_its_remedy() -> None:
    untrusted = finding("RepositoryUnreachable", "read", of_git("SSL certificate problem"))
    unknown = finding("RepositoryUnreachable", "work", of_git("Could not resolve host"))

    *_, message = ready(status(project(), 0, None, probed(untrusted, unknown), NOW))

    assert "Remedy: Let repositories[0].ca" in message
    assert "Check the repository's url and CA" in message


def test_a_missing_model_key_says_whose_it_is() -> None:
    key = {"name": "model-key", "key": "api-key"}
    agents = [
        {"name": name, "adapter": "demo", "image": "agent:1", "apiKey": key}
        for name in ("codex", "claude")
    ]
    missing = finding(
        "SecretNotFound", "model key 'api-key' of 'model-key'", 'secret "model-key" not found'
    )

    *_, message = ready(status(project(agents=agents), 0, None, probed(missing), NOW))

    whose = "model key 'api-key' of 'model-key' (agent 'codex', agent 'claude')"
    assert message.startswith(f"{whose}: secret ")


def test_the_most_there_can_be_to_tell_fits() -> None:
    most = [finding("SecretNotFound", f"{n}" * 500, '"' + "x" * 398) for n in range(9)]

    *_, message = ready(status(project(), 0, None, probed(*most), NOW))

    assert len(message) <= 4096
    assert "and 6 more" in message


def test_a_probe_that_could_not_tell_says_why_and_changes_nothing_that_was_known() -> None:
    why = finding("PodRejected", "probe", "exceeded quota")

    first = status(project(), 0, None, probed(silent=why, settled=False), NOW)
    later = status(project(), 0, None, probed(silent=why), NOW)

    truth, word, message = ready(first)
    assert (truth, word) == ("Unknown", "PodRejected")
    assert "could not be tried: exceeded quota. Remedy: " in message
    assert not_ready(with_status(first)) is None
    assert ready(later)[:2] == ("True", "Accepted")
