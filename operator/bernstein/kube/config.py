"""Where the API server is, how to authenticate and as whom: in-cluster or from a kubeconfig."""

import asyncio
import os
import ssl
import string
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

from bernstein.kube.errors import ConfigError
from bernstein.kube.kubeconfig_errors import kubeconfig_errors

SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")

Headers = tuple[tuple[str, str], ...]
"""In which a name may come several times."""

_IN_A_NAME = frozenset((string.ascii_letters + string.digits + "!#$&'*+-.^_`|~").encode())
"""Bytes that the name of a header may have; '%' is what the others are written with."""


class TokenSource(Protocol):
    """Gives the bearer token for the next request."""

    async def token(self, *, renew: bool = False) -> str:
        """``renew``: the last token was refused, so a newer one is needed."""


class StaticToken:
    """A token that never changes."""

    def __init__(self, token: str) -> None:
        self._token = token

    async def token(self, *, renew: bool = False) -> str:
        del renew
        return self._token


class FileToken:
    """A token in a file that the kubelet rotates; read again every minute and when refused."""

    def __init__(
        self, path: Path, *, max_age: float = 60.0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._path = path
        self._max_age = max_age
        self._clock = clock
        self._token = ""
        self._read_at = float("-inf")

    async def token(self, *, renew: bool = False) -> str:
        if renew or self._clock() - self._read_at >= self._max_age:
            try:
                self._token = self._path.read_text().strip()
            except OSError as error:
                raise ConfigError(
                    f"cannot read the service account token {self._path}: {error.strerror}; "
                    "is the token volume mounted?"
                ) from error
            self._read_at = self._clock()
        return self._token


class KubeconfigToken:
    """A token of a kubeconfig user, renewed by its exec plugin or auth provider; these are asked
    every minute and when it is refused."""

    def __init__(
        self,
        load: Callable[[], Any],
        configuration: Any,
        file: str,
        *,
        max_age: float = 60.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._load = load
        self._file = file
        self._configuration = configuration
        self._max_age = max_age
        self._clock = clock
        self._asked_at = float("-inf")

    async def token(self, *, renew: bool = False) -> str:
        # Both paths may run a plugin as a subprocess.
        if renew:
            self._configuration = await asyncio.to_thread(self._load)
            self._asked_at = self._clock()
        elif self._is_old():
            self._asked_at = self._clock()
            await asyncio.to_thread(self._refresh)
        return bearer_of(self._configuration)

    def _is_old(self) -> bool:
        is_renewable = self._configuration.refresh_api_key_hook is not None
        return is_renewable and self._clock() - self._asked_at >= self._max_age

    def _refresh(self) -> None:
        with kubeconfig_errors(self._file):
            self._configuration.refresh_api_key_hook(self._configuration)


def bearer_of(configuration: Any) -> str:
    """The bearer token in a ``kubernetes`` Configuration, or "" (its key differs by release)."""
    keys = configuration.api_key
    value: str = keys.get("BearerToken") or keys.get("authorization") or ""
    return value.removeprefix("Bearer ").strip()


@dataclass(frozen=True)
class ConnectionInfo:
    """Address of the API server and credentials; files are PEM."""

    server: str
    namespace: str = "default"
    ca_file: str | None = None
    cert_file: str | None = None
    key_file: str | None = None
    token: TokenSource | None = None
    verify: bool = True
    tls_server_name: str | None = None
    proxy: str | None = None
    impersonation: Headers = ()
    """Headers that say as whom every request is made, if not as oneself."""

    def ssl_context(self) -> ssl.SSLContext:
        context = ssl.create_default_context(cafile=self.ca_file)
        if not self.verify:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        if self.cert_file:
            context.load_cert_chain(self.cert_file, self.key_file)
        return context

    @classmethod
    def load(cls, kubeconfig: str | None = None, context: str | None = None) -> "ConnectionInfo":
        """The first of: the file or context given here or in KUBECONFIG, the pod's own account, the
        default kubeconfig below ~/.kube."""
        explicit = kubeconfig or context or os.environ.get("KUBECONFIG")
        if not explicit and os.environ.get("KUBERNETES_SERVICE_HOST"):
            return cls.in_cluster()
        return cls.from_kubeconfig(kubeconfig, context)

    @classmethod
    def in_cluster(cls, mount: Path = SERVICE_ACCOUNT) -> "ConnectionInfo":
        """The service account of the pod this runs in. Raises ConfigError outside of one."""
        host = os.environ.get("KUBERNETES_SERVICE_HOST")
        port = os.environ.get("KUBERNETES_SERVICE_PORT", "443")
        if not host:
            raise ConfigError(
                "KUBERNETES_SERVICE_HOST is not set: this is no pod; use a kubeconfig"
            )
        try:
            namespace = (mount / "namespace").read_text().strip()
        except OSError as error:
            raise ConfigError(
                f"no service account is mounted at {mount}; "
                "set automountServiceAccountToken: true on this pod"
            ) from error
        return cls(
            server=f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}",
            namespace=namespace,
            ca_file=str(mount / "ca.crt"),
            token=FileToken(mount / "token"),
        )

    @classmethod
    def from_kubeconfig(
        cls, path: str | None = None, context: str | None = None
    ) -> "ConnectionInfo":
        """A context of a kubeconfig (default: the current one), exec plugins included."""
        # Imported late: it costs half a second, and a pod's own account does not need it.
        from kubernetes.client import Configuration
        from kubernetes.config import ConfigException
        from kubernetes.config import kube_config as untyped

        library: Any = untyped
        file = path or os.environ.get("KUBECONFIG") or "~/.kube/config"

        def read() -> tuple[Any, Any, Any]:
            """What the library makes of the files, the context, and its user: all of one state."""
            configuration = Configuration()
            with kubeconfig_errors(file):
                merged = library.KubeConfigMerger(path or library.KUBE_CONFIG_DEFAULT_LOCATION)
                if merged.config is None:
                    raise ConfigException("Invalid kube-config file. No configuration found.")
                loader = library.KubeConfigLoader(
                    merged.config,
                    context,
                    config_base_path=None,  # the file that names another one says where that is
                    config_persister=merged.save_changes,
                )
                loader.load_and_set(configuration)
                chosen = loader.current_context
                return configuration, chosen, _user(merged.config, chosen)

        loaded, chosen, user = read()
        with kubeconfig_errors(file):
            return cls(
                server=_url("server", loaded.host).rstrip("/"),
                namespace=str(chosen["context"].get("namespace") or "default"),
                ca_file=loaded.ssl_ca_cert,
                cert_file=loaded.cert_file,
                key_file=loaded.key_file,
                token=KubeconfigToken(lambda: read()[0], loaded, file)
                if bearer_of(loaded)
                else None,
                verify=loaded.verify_ssl,
                tls_server_name=_text("tls-server-name", loaded.tls_server_name),
                proxy=_url("proxy-url", loaded.proxy) if loaded.proxy else None,
                impersonation=impersonation_of(user),
            )


def _user(merged: Any, context: Any) -> Any:
    """The user of a context; one that is not there has no credentials, and acts as nobody."""
    users = merged.safe_get("users") or ()
    named = (each["user"] for each in users if each["name"] == context["context"].get("user"))
    found = next(named, None)
    return found.value if found is not None else {}


def impersonation_of(user: Any) -> Headers:
    """The headers that kubectl sends for a kubeconfig's user with `as`, `as-uid`, `as-groups` or
    `as-user-extra`.

    Raises ConfigError for what kubectl refuses, too: to go on without it would act with the rights
    of somebody else. Other errors where the user has not the form of one.
    """
    found = tuple(_impersonating(user))
    if found and not user.get("as"):
        raise ConfigError(
            "the kubeconfig's user has 'as-uid', 'as-groups' or 'as-user-extra' without 'as'; "
            "name in 'as' the user to act as, or choose another --context"
        )
    return found


def _impersonating(user: Any) -> Iterator[tuple[str, str]]:
    if name := user.get("as"):
        yield "Impersonate-User", _printable("as", name)
    if uid := user.get("as-uid"):
        yield "Impersonate-Uid", _printable("as-uid", uid)
    for group in _printables("as-groups", user.get("as-groups")):
        yield "Impersonate-Group", group
    extra = user.get("as-user-extra") or {}
    if not isinstance(extra, dict):
        raise _malformed("as-user-extra")
    for key, values in extra.items():
        name = f"Impersonate-Extra-{_escaped(_printable('as-user-extra', key))}"
        for value in _printables("as-user-extra", values):
            yield name, value


def _escaped(key: str) -> str:
    return "".join(chr(byte) if byte in _IN_A_NAME else f"%{byte:02X}" for byte in key.encode())


def _printables(field: str, values: object) -> list[str]:
    if not isinstance(values, list | None):
        raise _malformed(field)
    return [_printable(field, value) for value in values or ()]


def _printable(field: str, value: object) -> str:
    """It, where a header can carry it."""
    if not isinstance(value, str) or not value.isprintable():
        raise _malformed(field)
    return value


def _malformed(field: str) -> ConfigError:
    return ConfigError(
        f"the kubeconfig's '{field}' is not made of plain text; "
        "write it as kubectl takes it, in quotes, or choose another --context"
    )


def _text(field: str, value: object) -> str | None:
    if value is None or isinstance(value, str):
        return value
    raise ConfigError(f"the kubeconfig's '{field}' is no text; write it in quotes")


def _url(field: str, value: object) -> str:
    """The value of a field that must be a URL; ValueError too where its port is no number."""
    text = _text(field, value) or ""
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.port == 0:
        raise ConfigError(
            f"the kubeconfig's '{field}' is no URL: '{text[:100]}'; "
            "write https://HOST:PORT, or choose another --context"
        )
    return text
