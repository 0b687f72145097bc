"""What containers are told of the way to servers: the Project's proxy, and authorities."""

from __future__ import annotations

from typing import Any

from bernstein import urls
from bernstein.api.pod import AGENT, PROGRAM
from bernstein.api.programs.setup import SETUP
from bernstein.api.projects.credentials import ConfigMapKey
from bernstein.api.projects.network import Network, Proxy

_CA, _CA_FOLDER, _CA_FILE = "network-ca", "/network-ca", "ca.crt"
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
"""What a command asks of its own pod no proxy could answer."""


def told(network: Network, container: dict[str, Any], *, of_agent: bool = False) -> dict[str, Any]:
    """The container with the variables that are for it: ours, or those that most programs know. A
    variable that it has stays. `of_agent`: it stands in an agent's pod."""
    proxy = network.proxy
    more = _variables(proxy, container, of_agent=of_agent) if proxy is not None else {}
    if network.ca is not None and _is_ours(container):
        more |= {urls.MORE_CA: f"{_CA_FOLDER}/{_CA_FILE}"}
        mounts = [*container.get("volumeMounts", ()), {"name": _CA, "mountPath": _CA_FOLDER}]
        container = {**container, "volumeMounts": mounts}
    if not more:
        return container
    env = container.get("env", [])
    has = {each["name"] for each in env}
    added = [{"name": k, "value": v} for k, v in sorted(more.items()) if k not in has]
    return {**container, "env": [*env, *added]}


def volumes(ca: ConfigMapKey | None) -> list[dict[str, Any]]:
    """Of what `told` mounts."""
    if ca is None:
        return []
    items = [{"key": ca.key, "path": _CA_FILE}]
    return [{"name": _CA, "configMap": {"name": ca.name, "items": items}}]


def _is_ours(container: dict[str, Any]) -> bool:
    return tuple(container.get("command", ())[: len(PROGRAM)]) == PROGRAM


def _variables(proxy: Proxy, container: dict[str, Any], *, of_agent: bool) -> dict[str, str]:
    if _is_ours(container):
        return {urls.PROXY: proxy.url, urls.NO_PROXY: ",".join(proxy.no_proxy)}
    is_agents = container["name"] == AGENT or (of_agent and container["name"] == SETUP)
    whose = "Agents" if is_agents else "Checks"
    if whose not in proxy.variables:
        return {}
    direct = ",".join((*_LOOPBACK, *proxy.no_proxy))
    usual = {"HTTPS_PROXY": proxy.url, "HTTP_PROXY": proxy.url, "NO_PROXY": direct}
    # curl reads HTTP_PROXY in small letters alone, others all of them in capitals.
    return usual | {name.lower(): value for name, value in usual.items()}
