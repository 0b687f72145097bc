"""How git reaches a remote: by https, or by an ssh that is told everything, and finds nothing by
itself.

What ssh would read on its own (settings of the user and of the image, an agent, other keys, other
known hosts) would be a way around what the Project names.
"""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path
from typing import NamedTuple
from urllib.parse import SplitResult, unquote

from bernstein import urls
from bernstein.api.pod import Remote
from bernstein.api.programs.account import KNOWN_HOSTS, SSH_KEY, is_ssh
from bernstein.api.reasons import UNTRUSTED, Reason
from bernstein.pods.git import credential
from bernstein.pods.git.errors import GitError

WORK, KEPT = "refs/bernstein/", "refs/bernstein/attestations/"
"""Refs of work, and those among them that are kept beside the branch."""
CONNECT_SECONDS = 30
_EVERYBODYS = "/etc/ssl/certs/ca-certificates.crt"
"""Where our image, as all of Debian, has the authorities that git trusts by itself."""
_USER = "git"
"""Where the address names nobody, as on all forges."""
_SSH = re.compile(
    r"ssh://(?:(?P<user>[A-Za-z0-9_][A-Za-z0-9._-]*)@)?"
    r"(?P<host>[A-Za-z0-9][A-Za-z0-9.-]*|\[[0-9A-Fa-f:.]+\])"
    r"(?::(?P<port>[1-9][0-9]{0,4}))?"
    r"(?P<path>(?:/[A-Za-z0-9._~+][A-Za-z0-9._~+-]*)+/?)"
)
"""Nothing in it can be read as an option by ssh, or as more than one word by a shell."""
_MOST_PORT = 65535
_OPTIONS = {
    "BatchMode": "yes",
    "StrictHostKeyChecking": "yes",
    "GlobalKnownHostsFile": "/dev/null",
    "KnownHostsCommand": "none",
    "VerifyHostKeyDNS": "no",
    "CheckHostIP": "no",
    "UpdateHostKeys": "no",
    "CanonicalizeHostname": "no",
    "IdentitiesOnly": "yes",
    "IdentityAgent": "none",
    "PKCS11Provider": "none",
    "AddKeysToAgent": "no",
    "PreferredAuthentications": "publickey",
    "PubkeyAuthentication": "yes",
    "PasswordAuthentication": "no",
    "KbdInteractiveAuthentication": "no",
    "GSSAPIAuthentication": "no",
    "HostbasedAuthentication": "no",
    "ProxyCommand": "none",
    "ProxyJump": "none",
    "PermitLocalCommand": "no",
    "ControlMaster": "no",
    "ControlPath": "none",
    "ClearAllForwardings": "yes",
    "ForwardAgent": "no",
    "ForwardX11": "no",
    "EscapeChar": "none",
    "LogLevel": "ERROR",
    "ConnectTimeout": str(CONNECT_SECONDS),
    "ServerAliveInterval": "15",
    "ServerAliveCountMax": "4",
}
"""Said one by one, although no file of settings is read: what an image's ssh has built in may be
something else."""


class SSHAddress(NamedTuple):
    """Where a repository is that is reached by SSH."""

    user: str
    host: str
    port: int
    path: str


def ssh_address(url: str) -> SSHAddress:
    """Raises GitError(InvalidConfig) for an address that ssh or a shell could read otherwise."""
    found = _SSH.fullmatch(url)
    port = int(found["port"] or 22) if found else 0
    if found is None or port > _MOST_PORT:
        text = "the repository's URL is not of the form ssh://USER@HOST:PORT/PATH"
        raise GitError("InvalidConfig", text)
    return SSHAddress(found["user"] or _USER, found["host"].strip("[]"), port, found["path"])


def ssh_command(remote: Remote) -> tuple[str, ...]:
    """Program and options, without the host. Raises GitError(InvalidConfig).

    The key is used where the kubelet has put it, in memory: ssh refuses a key that others may read
    only where the file is its user's own, and files of a Secret are root's.
    """
    if remote.credential_dir is None:
        raise GitError("InvalidConfig", "SSH needs an account")
    folder = Path(remote.credential_dir)
    options = {
        **_OPTIONS,
        "User": ssh_address(remote.url).user,
        "IdentityFile": str(folder / SSH_KEY),
        "UserKnownHostsFile": str(folder / KNOWN_HOSTS),
    }
    said = (word for name, value in options.items() for word in ("-o", f"{name}={value}"))
    return ("ssh", "-F", "none", "-T", "-a", "-x", *said)


def address_of(remote: Remote, ref: str) -> str:
    """The address of the repository that has the ref."""
    is_work = ref.startswith(WORK) and not ref.startswith(KEPT)
    return remote.work_url if remote.work_url and is_work else remote.url


def settings(remote: Remote, git_dir: Path) -> dict[str, str]:
    """git's settings for this remote. Raises GitError(InvalidConfig) for an address that we never
    talk to."""
    addresses = list(filter(None, (remote.url, remote.work_url)))
    if is_ssh(remote.url):
        _same_server(*(ssh_address(url)._replace(path="") for url in addresses))
        return {"protocol.ssh.allow": "always"}
    repositories = [https_address(url) for url in addresses]
    parts = repositories[0]
    _same_server(*(each._replace(path="") for each in repositories))
    found = {"protocol.https.allow": "always"}
    if proxy := urls.proxy_of(remote.url, os.environ):
        found["http.proxy"] = proxy
    if authorities := _authorities(remote.ca_file, git_dir):
        # The path is a folder without certificates, so that those of the file alone are trusted.
        found |= {"http.sslCAInfo": authorities, "http.sslCAPath": str(git_dir / "refs")}
    if remote.credential_dir:
        paths = (unquote(each.path).strip("/") for each in repositories)
        asked = (parts.scheme, parts.netloc, *paths)
        found["credential.helper"] = credential.helper(remote.credential_dir, *asked)
    return found


def _same_server(*addresses: SSHAddress | SplitResult) -> None:
    """An account is for one server."""
    if len(set(addresses)) > 1:
        text = "the work repository is not on the git server of the repository"
        raise GitError("InvalidConfig", text)


def _authorities(own: str | None, git_dir: Path) -> str | None:
    """The file with the authorities that count; None: those that everybody trusts. git takes one
    file, so that what a program is told of besides is put behind the server's own.

    Raises GitError(RepositoryUnreachable) where one cannot be read.
    """
    more = os.environ.get(urls.MORE_CA)
    if not more:
        return own
    try:
        texts = [Path(each).read_text() for each in (own or _EVERYBODYS, more)]
        git_dir.mkdir(parents=True, exist_ok=True)
        both = git_dir / "authorities.pem"
        both.write_text("\n".join(texts))
    except OSError as error:
        text = f"{UNTRUSTED}: its authorities cannot be read: {type(error).__name__}"
        raise GitError(Reason.REPOSITORY_UNREACHABLE, text) from None
    return str(both)


def environment(remote: Remote | None) -> dict[str, str]:
    """Variables by which git starts our ssh: they outrank every setting of a repository."""
    if remote is None or not is_ssh(remote.url):
        return {}
    return {"GIT_SSH_COMMAND": shlex.join(ssh_command(remote)), "GIT_SSH_VARIANT": "ssh"}


def https_address(url: str) -> SplitResult:
    """Raises GitError(InvalidConfig) for one that is none, or that holds more than an address."""
    parts = urls.split(url)
    if parts is None or parts.scheme != "https" or not parts.hostname:
        raise GitError("InvalidConfig", "the repository's URL must start with https:// or ssh://")
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise GitError(
            "InvalidConfig", "the repository's URL holds a user, a query or a fragment: remove it"
        )
    return parts
