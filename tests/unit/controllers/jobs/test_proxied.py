"""Who is told of the Project's proxy, and by which variables."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein import urls
from bernstein.api.pod import AGENT
from bernstein.api.programs.setup import SETUP
from bernstein.api.projects.credentials import ConfigMapKey
from bernstein.api.projects.network import Network, Proxy
from bernstein.controllers.jobs.proxied import told
from tests.unit.controllers.jobs import built
from tests.unit.controllers.jobs.built import environment, follow_up, program

URL = "http://proxy.example.com:3128"
USUAL = {"HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "https_proxy", "http_proxy", "no_proxy"}
OURS = {urls.PROXY, urls.NO_PROXY}


def containers(**proxy: Any) -> dict[str, dict[str, str]]:
    """Variables by Job and container, of every Job of a Project that uses every field."""
    found = {}
    for name, pod in pods(proxy=Proxy(url=URL, **proxy)).items():
        for container in [*pod.get("initContainers", ()), *pod["containers"]]:
            key = f"{'ours' if program(container) else 'theirs'} {name} {container['name']}"
            found[key] = environment(container)
    return found


def pods(**network_fields: Any) -> dict[str, Any]:
    """The pod of every Job of that Project, with this in its network."""
    network = built.FULL.spec.network.model_copy(update=network_fields)
    spec = built.FULL.spec.model_copy(update={"network": network})
    project = built.FULL.model_copy(update={"spec": spec})
    jobs = {
        name: follow_up(wanted, owner, project, built.FULL_SETTINGS)
        for name, (wanted, owner) in built.WANTED.items()
    } | {AGENT: built.agent_job(project, built.FULL_SETTINGS)}
    return {name: job["spec"]["template"]["spec"] for name, job in jobs.items()}


def test_programs_of_ours_are_told_by_variables_of_ours_and_nobody_else_is() -> None:
    found = containers(no_proxy=("example.org", "git.example.com"))

    assert {key.split()[0] for key in found} == {"ours", "theirs"}
    for key, variables in found.items():
        if key.startswith("ours"):
            assert variables[urls.PROXY] == URL
            assert variables[urls.NO_PROXY] == "example.org,git.example.com"
        else:
            assert not OURS & variables.keys()
        assert not USUAL & variables.keys()


@pytest.mark.parametrize("whose", ["Agents", "Checks"])
def test_commands_are_told_where_the_project_says_so(whose: str) -> None:
    found = containers(variables=(whose,), no_proxy=("example.org",))

    have = {key for key, variables in found.items() if variables.keys() >= USUAL}
    theirs = {key for key in found if key.startswith("theirs")}
    agents = {f"theirs {AGENT} {each}" for each in (AGENT, SETUP)}
    assert have == (agents if whose == "Agents" else theirs - agents)
    for key in have:
        assert found[key]["HTTPS_PROXY"] == found[key]["http_proxy"] == URL
        assert found[key]["no_proxy"] == "localhost,127.0.0.1,::1,example.org"


def test_a_variable_that_a_container_has_stays() -> None:
    network = Network(proxy=Proxy(url=URL, variables=("Checks",)))
    own = {"name": "HTTPS_PROXY", "value": "http://other:1"}

    found = told(network, {"name": "check", "command": ["sh"], "env": [own]})

    assert environment(found)["HTTPS_PROXY"] == "http://other:1"
    assert len(found["env"]) == len(USUAL)


def test_without_a_proxy_nothing_is_said() -> None:
    container = {"name": "check", "command": ["sh"]}

    assert told(Network(), container) is container


def test_programs_of_ours_mount_the_authorities_of_the_network_and_nobody_else_does() -> None:
    ca = ConfigMapKey(name="network-ca", key="bundle.pem")

    for pod in pods(ca=ca).values():
        (volume,) = (each for each in pod["volumes"] if each["name"] == "network-ca")
        items = [{"key": "bundle.pem", "path": "ca.crt"}]
        assert volume["configMap"] == {"name": "network-ca", "items": items}
        for container in [*pod.get("initContainers", ()), *pod["containers"]]:
            mounts = {m["name"]: m["mountPath"] for m in container.get("volumeMounts", ())}
            told_of = environment(container).get(urls.MORE_CA)
            if program(container):
                assert told_of == f"{mounts['network-ca']}/ca.crt"
            else:
                assert (told_of, mounts.get("network-ca")) == (None, None)
