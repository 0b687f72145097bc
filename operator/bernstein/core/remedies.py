"""What a person can do about a reason: the remedy of its row, which names fields of the Project."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping
from typing import Any

from bernstein.api.programs.forge_reasons import ForgeReason
from bernstein.api.project import Project
from bernstein.api.projects.accounts import accounts
from bernstein.api.projects.network import Network
from bernstein.api.projects.workplace import Workplace
from bernstein.api.reasons import CANNOT_SET_UP, LEFT, UNTRUSTED, Reason
from bernstein.core.reasons import policy
from bernstein.core.sanitise import without_quotes

_FIELDS = (
    *("secretName", "apiKey.name", "key.name", "token.name", "ca.name", "configMap"),
    *("imagePullSecrets", "image"),
)
"""Ends of the paths of fields that name a Secret, a ConfigMap or an image."""
ADDED_BY_OTHERS = "that it sets itself only"
"""Words of our own admission policy where a Job has fields that the operator has not set."""
_OF_ACCOUNTS = (Reason.REPOSITORY_AUTH_FAILED, Reason.HOST_KEY_UNTRUSTED)
"""What is mended in the Secret of an account."""
_OF_TOKENS = (
    *(ForgeReason.TOKEN_REFUSED, ForgeReason.TOKEN_UNREADABLE),
    ForgeReason.RIGHTS_MISSING,
)
"""What is mended in the Secret of a forge's token."""
_AUTHORITY = (
    "Let repositories[{}].ca of the Project name the CA that has signed the git server's "
    "certificate, which must be valid, and for the host in the url."
)
_ACCOUNT = re.compile(r"\bthe account '([a-z]+)'")
"""As programs in pods name the account that they have used."""
_KEEP_OFF = (
    "spec.pods of the Project sets these fields, or else a webhook of the cluster: take them out, "
    "keep the webhook from Jobs with the label app.kubernetes.io/managed-by=bernstein, or name "
    "those of pods that the chart may allow in its admissionPolicies.podFields."
)

_LACKS_CLASS = {
    "no PriorityClass with name ": ("PriorityClass", "priorityClassName"),
    'RuntimeClass "': ("RuntimeClass", "runtimeClassName"),
}
"""What the API server says of a pod's class that is not there, its kind, and the field."""
_PUT_BACK = (
    "Have the branch where it was left: rename it back, or else restore it, or push that commit to "
    "it; or merge its pull request."
)
_SET_UP = (
    "Look at the network and the container runtime of the node, and at pods.annotations and "
    "pods.runtimeClassName of the Project."
)


def remedy_of(
    reason: str, text: str, project: Project | None = None, subjects: Iterable[str] = ()
) -> str:
    """The reason's remedy, which names the Project's fields where the text names their objects.

    `subjects`: the accounts that it concerns, beside the ones that the text names.
    """
    row = policy(reason)
    if reason == Reason.REPOSITORY_UNREACHABLE and UNTRUSTED in without_quotes(text):
        alone = project is None or len(project.spec.repositories) == 1
        return _AUTHORITY.format(_place(project) if alone else "")
    if reason == Reason.REPOSITORY_UNREACHABLE and project is not None:
        return _way_to_git(project.spec.network)
    if reason == Reason.POD_REJECTED and ADDED_BY_OTHERS in text:
        return _KEEP_OFF
    if reason == Reason.UNSCHEDULABLE and CANNOT_SET_UP in text:
        return _SET_UP
    if reason == Reason.BRANCH_TAKEN and LEFT in text:
        return _PUT_BACK
    lacking = (its for words, its in _LACKS_CLASS.items() if words in text)
    if reason == Reason.POD_REJECTED and (found := next(lacking, None)):
        return f"Create the {found[0]}, or correct spec.pods.{found[1]} of the Project."
    fields: list[str] = []
    if project is not None and row.names_object:
        fields = naming(project, text)
    if project is not None and reason in _OF_ACCOUNTS:
        fields = _secrets(project, {*subjects, *_ACCOUNT.findall(without_quotes(text))})
    if project is not None and reason in _OF_TOKENS:
        fields = _tokens(project)
    return f"{row.remedy.rstrip('.')}: {', '.join(fields)}." if fields else row.remedy


def _secrets(project: Project, subjects: Container[str]) -> list[str]:
    """The Secrets of these accounts, and the fields that name them."""
    first = _place(project)
    return [
        f"'{each.secret.secret_name}' "
        f"(spec.repositories[{first + each.place}].credentials.{each.name}.secretName)"
        for each in accounts(project.spec)
        if each.subject in subjects
    ]


def _tokens(project: Project) -> list[str]:
    """The Secrets of the tokens of its forges, and the fields that name them."""
    return [
        f"'{each.forge.token.name}' (spec.repositories[{place}].forge.token.name)"
        for place, each in enumerate(project.spec.repositories, _place(project))
        if each.forge is not None
    ]


def _place(project: Project | None) -> int:
    """The index of its first repository: who works in one sees that alone."""
    return project.spec.place if isinstance(project, Workplace) else 0


def _way_to_git(network: Network) -> str:
    """Which of the Project's fields may keep its pods from the git server."""
    check = "Check the repository's url and CA in the Project, and"
    if network.policy == "Unmanaged":
        return f"{check} that your own NetworkPolicies let its pods reach it."
    if network.agents is not None:
        reach = (
            "that pods may reach it (network.git, where its address is a private one, too) and the "
            "cluster's DNS (dns.peers of the chart)"
        )
        return f"{check} {reach}."
    return policy(Reason.REPOSITORY_UNREACHABLE).remedy


def with_remedy(text: str, reason: str, project: Project | None = None) -> str:
    """The text with the reason's remedy; without a Project that names none of its fields."""
    remedy = remedy_of(reason, text, project)
    return f"{text.rstrip('.')}. Remedy: {remedy}" if remedy else text


def naming(project: Project, text: str) -> list[str]:
    """Paths of the Project's fields that name an object quoted in the text, as in `secret "x"` or
    `image 'x'`."""
    place = f"spec.repositories[{_place(project)}]"
    return [
        path.replace("spec.repositories[0]", place) if place != "spec.repositories[0]" else path
        for path, value in _strings(project.spec.dump(), "spec")
        if (f'"{value}"' in text or f"'{value}'" in text)
        and path.rstrip("[0123456789]").endswith(_FIELDS)
    ]


def _strings(value: Any, path: str) -> Iterator[tuple[str, str]]:
    """(path, value) of all strings in it."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _strings(inner, f"{path}.{name}")
    elif isinstance(value, list | tuple):
        for number, inner in enumerate(value):
            yield from _strings(inner, f"{path}[{number}]")
    elif isinstance(value, str):
        yield path, value
