"""What is in the Secret of an account of the git server: it goes by the repository's address."""

from __future__ import annotations

USERNAME, PASSWORD = "username", "password"
SSH_KEY, KNOWN_HOSTS = "ssh-privatekey", "known_hosts"


def is_ssh(url: str) -> bool:
    """Whether the repository is reached by SSH; else it is by https."""
    return url.startswith("ssh://")


def keys(url: str) -> tuple[str, str]:
    """Those that it must have; in pods they are files of these names."""
    return (SSH_KEY, KNOWN_HOSTS) if is_ssh(url) else (USERNAME, PASSWORD)


def not_secret(url: str) -> str:
    """The key whose value may be seen: by that the kubelet is asked whether the Secret is there."""
    return KNOWN_HOSTS if is_ssh(url) else USERNAME
