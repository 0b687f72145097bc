"""What the NetworkPolicies of a Project let its pods reach, and which pods they are about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from bernstein.api.project import Project
from bernstein.controllers.network_policies import build
from bernstein.controllers.settings import CLUSTER_DNS, PRIVATE, peers, ranges
from bernstein.core import labels
from tests.unit.controllers.jobs.built import FULL_SETTINGS, PLAIN, PLAIN_SETTINGS, jobs
from tests.unit.core import objects

DNS = {
    "to": [peer.dump() for peer in CLUSTER_DNS],
    "ports": [
        {"port": 53, "protocol": "UDP"},
        {"port": 53, "protocol": "TCP"},
        {"port": 5353, "protocol": "UDP"},
        {"port": 5353, "protocol": "TCP"},
    ],
}
OUTSIDE = [
    {
        "ipBlock": {
            "cidr": "0.0.0.0/0",
            "except": [
                *("169.254.0.0/16", "10.0.0.0/8", "172.16.0.0/12"),
                *("192.168.0.0/16", "100.64.0.0/10"),
            ],
        }
    },
    {"ipBlock": {"cidr": "::/0", "except": ["fe80::/10", "fc00::/7"]}},
]
HTTPS = {"to": OUTSIDE, "ports": [{"port": 443, "protocol": "TCP"}]}
IN_CLUSTER = {
    "to": [{"podSelector": {"matchLabels": {"app": "git"}}}],
    "ports": [{"port": 8443, "protocol": "TCP"}],
}
INDEX = {"to": [{"ipBlock": {"cidr": "192.0.2.0/24", "except": ["192.0.2.7/32"]}}]}


FORGE = {"type": "gitea", "token": {"name": "forge", "key": "token"}}
MODELS = [
    {"name": "a", "provider": "openai", "key": {"name": "judge", "key": "key"}},
    {
        "name": "b",
        "provider": "openai-chat",
        "baseUrl": "https://models.example:8443/v1",
        "key": {"name": "judge", "key": "key"},
    },
]


def policies(
    settings: Any = PLAIN_SETTINGS,
    asks: Sequence[Any] = (),
    *,
    formats: bool = False,
    on: dict[str, Any] | None = None,
    caches: bool = False,
    repositories: Sequence[Any] = (),
    **network: Any,
) -> dict[str, Any]:
    """Spec of each, by the last word of its name; `asks`: the models of the Project; `formats`:
    whether it has the gate; `on`: the forge of its repository; `caches`: whether it has a cache."""
    gates = {"pipeline": [{"name": "auto_format"}] if formats else []}
    more = ({} if on is None else {"forge": on}) | ({"cache": {"claim": "c"}} if caches else {})
    repositories = repositories or [{**PLAIN.spec.repository.dump(), **more}]
    project = objects.project(
        network=network, models=[*asks], gates=gates, repositories=[*repositories]
    )
    found = build(project, settings)
    return {p["metadata"]["name"].rpartition("-")[2]: p["spec"] for p in found}


def limits(settings: Any = PLAIN_SETTINGS, **more: Any) -> dict[str, Any]:
    """Those that say what pods reach."""
    found = policies(settings, **more)
    return {name: spec for name, spec in found.items() if spec["policyTypes"] == ["Egress"]}


@pytest.mark.parametrize("network", [{}, {"agents": []}, {"agents": [INDEX], "checks": [INDEX]}])
def test_nothing_connects_to_a_pod_of_ours(network: dict[str, Any]) -> None:
    """Checks run code of agents: what listens there is for nobody else."""
    closed = policies(asks=MODELS, formats=True, on=FORGE, caches=True, **network)["closed"]

    assert closed["policyTypes"] == ["Ingress"]
    assert "ingress" not in closed
    (jobs_meant,) = closed["podSelector"]["matchExpressions"]
    made = {job["spec"]["template"]["metadata"]["labels"][labels.JOB] for job in jobs().values()}
    assert set(jobs_meant["values"]) == made


@pytest.mark.parametrize(
    ("network", "reached"),
    [
        (
            {},
            {
                "to": OUTSIDE,
                "ports": [{"port": 443, "protocol": "TCP"}, {"port": 8443, "protocol": "TCP"}],
            },
        ),
        ({"models": [INDEX]}, INDEX),
    ],
)
def test_who_asks_models_reaches_them_beside_git_and_nobody_else_does(
    network: dict[str, Any], reached: dict[str, Any]
) -> None:
    found = limits(asks=MODELS, **network)

    judge = found.pop("judge")
    (jobs_meant,) = judge["podSelector"]["matchExpressions"]
    assert jobs_meant["values"] == ["judge"]
    assert judge["egress"] == [reached]
    assert "judge" in found["git"]["podSelector"]["matchExpressions"][0]["values"]
    assert all(others["egress"] == [DNS, HTTPS] for others in found.values())


@pytest.mark.parametrize(
    ("url", "port"),
    [
        ("ssh://git@git.example/app.git", 22),
        ("ssh://git@git.example:2222/app.git", 2222),
        ("https://git.example:8443/app.git", 8443),
    ],
)
def test_the_port_of_the_git_server_is_that_of_the_address(url: str, port: int) -> None:
    found = policies(repositories=[{**PLAIN.spec.repository.dump(), "url": url}])

    _, git_server = found["git"]["egress"]
    assert git_server["ports"] == [{"port": port, "protocol": "TCP"}]


def test_all_but_agents_reach_dns_and_the_git_servers_port_only() -> None:
    found = limits()

    assert found.keys() == {"git", "checks"}
    for spec in found.values():
        assert spec["egress"] == [DNS, HTTPS]


def test_every_kind_of_job_is_meant_by_the_policy_for_it() -> None:
    found = limits(agents=[], formats=True, on=FORGE, caches=True)
    meant = {
        job: pods
        for pods, spec in found.items()
        for job in spec["podSelector"]["matchExpressions"][0]["values"]
    }

    found_labels = [job["spec"]["template"]["metadata"]["labels"] for job in jobs().values()]
    made = {label[labels.JOB]: label[labels.PROJECT] for label in found_labels}
    assert made.pop("judge") == "default"  # without a model there is none
    assert made == dict.fromkeys(meant, "default")
    others = {"check", "agent", "propose", "watch", "listen"}
    assert {job for job, pods in meant.items() if pods != "git"} == others
    assert (meant["check"], meant["agent"]) == ("checks", "agents")
    for spec in found.values():
        assert spec["podSelector"]["matchLabels"] == {labels.PROJECT: "default"}


@pytest.mark.parametrize(
    ("api", "network", "reached"),
    [
        ({}, {}, HTTPS),
        (
            {"api": "https://forge.example:8443/api/v4"},
            {},
            {"to": OUTSIDE, "ports": [{"port": 8443, "protocol": "TCP"}]},
        ),
        ({}, {"forge": [INDEX]}, INDEX),
    ],
)
def test_who_asks_the_forge_reaches_dns_and_that_alone(
    api: dict[str, Any], network: dict[str, Any], reached: dict[str, Any]
) -> None:
    found = limits(on={**FORGE, **api}, **network)
    asks = found.pop("forge")

    (jobs_meant,) = asks["podSelector"]["matchExpressions"]
    assert jobs_meant["values"] == ["propose", "watch", "listen"]
    assert asks["egress"] == [DNS, reached]
    assert all(others["egress"] == [DNS, HTTPS] for others in found.values())


def test_a_formatter_reaches_what_jobs_of_ours_do_and_is_none_of_a_project_without_it() -> None:
    own = limits(formats=True, checks=[INDEX])
    without = limits(checks=[INDEX])

    assert "format" in own["git"]["podSelector"]["matchExpressions"][0]["values"]
    assert own["git"]["egress"] == [DNS, HTTPS]
    assert all("format" not in str(spec["podSelector"]) for spec in without.values())


def test_the_port_of_the_repositorys_address_is_the_git_servers() -> None:
    (rule,) = reached_for("https://git.example:8443/app.git")

    assert rule == {"to": OUTSIDE, "ports": [{"port": 8443, "protocol": "TCP"}]}


def reached_for(url: str, settings: Any = PLAIN_SETTINGS) -> list[Any]:
    """What checks reach beside DNS, of a repository with this url."""
    found = build(
        objects.project(repositories=[{**PLAIN.spec.repository.dump(), "url": url}]), settings
    )
    _, *rules = found[2]["spec"]["egress"]
    return list(rules)


@pytest.mark.parametrize("url", ["https://git.example:99999/app.git", "https://[::1/app.git"])
def test_an_address_that_is_none_keeps_no_policy_from_being_made(url: str) -> None:
    """The probe tells what is wrong with it."""
    assert reached_for(url) == [HTTPS]


@pytest.mark.parametrize("host", ["git.forge.svc", "git.forge.svc.cluster.local", "GIT.forge.svc."])
def test_a_git_server_that_is_a_service_is_reached_in_its_namespace_alone(host: str) -> None:
    (rule,) = reached_for(f"https://{host}:8443/app.git")

    named = {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "forge"}}}
    assert rule == {"to": [named], "ports": [{"port": 8443, "protocol": "TCP"}]}


def test_a_name_below_svc_of_an_unknown_domain_may_be_a_service_or_a_host() -> None:
    (rule,) = reached_for("https://git.forge.svc.example.com/app.git")

    named = {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "forge"}}}
    assert rule["to"] == [named, *OUTSIDE]


@pytest.mark.parametrize(
    ("host", "cidr"), [("10.1.2.3", "10.1.2.3/32"), ("[fd00::7]", "fd00::7/128")]
)
def test_a_git_server_whose_url_has_its_address_is_reached_there_alone(
    host: str, cidr: str
) -> None:
    (rule,) = reached_for(f"https://{host}/app.git")

    assert rule["to"] == [{"ipBlock": {"cidr": cidr}}]


@pytest.mark.parametrize(
    "host",
    [
        *("169.254.169.254", "[fe80::1]", "[::ffff:169.254.169.254]"),
        *("2852039166", "git.-a.svc", "git..svc"),
    ],
)
def test_no_url_opens_an_address_that_clouds_give_credentials_at(host: str) -> None:
    (rule,) = reached_for(f"https://{host}/app.git")

    assert rule["to"] == OUTSIDE


def test_ranges_of_the_cluster_are_those_that_the_operator_is_told() -> None:
    told = replace(PLAIN_SETTINGS, internal=ranges('["10.96.0.0/12", "169.254.0.0/16"]'))

    (rule,) = reached_for("https://git.example/app.git", told)

    v4, v6 = (peer["ipBlock"]["except"] for peer in rule["to"])
    assert (v4, v6) == (["169.254.0.0/16", "10.96.0.0/12"], ["fe80::/10"])


def test_without_any_range_link_local_addresses_are_left_out_still() -> None:
    (rule,) = reached_for(
        "https://git.example/app.git", replace(PLAIN_SETTINGS, internal=ranges("[]"))
    )

    assert [p["ipBlock"]["except"] for p in rule["to"]] == [["169.254.0.0/16"], ["fe80::/10"]]


def test_models_in_the_cluster_are_reached_where_they_are() -> None:
    own = {**MODELS[1], "baseUrl": "https://llm.models.svc:8443/v1"}
    judge = limits(asks=[MODELS[0], own])["judge"]

    named = {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "models"}}}
    assert sorted(judge["egress"], key=str) == sorted(
        [HTTPS, {"to": [named], "ports": [{"port": 8443, "protocol": "TCP"}]}], key=str
    )


PROXY = "http://proxy.example.com:3128"
TO_PROXY = {"to": OUTSIDE, "ports": [{"port": 3128, "protocol": "TCP"}]}
AT_PROXY = [{"ipBlock": {"cidr": "10.0.0.7/32"}}]


def test_with_a_proxy_it_is_reached_in_place_of_what_is_asked_through_it() -> None:
    found = limits(asks=MODELS[1:], on=FORGE, proxy={"url": PROXY})

    assert found["git"]["egress"] == found["checks"]["egress"] == [DNS, TO_PROXY]
    assert found["forge"]["egress"] == [DNS, TO_PROXY]
    assert found["judge"]["egress"] == [TO_PROXY]


def test_where_the_proxy_is_may_be_said_and_what_a_project_opens_stays_open() -> None:
    found = limits(proxy={"url": PROXY, "peers": AT_PROXY}, git=[IN_CLUSTER])

    at = {"to": AT_PROXY, "ports": [{"port": 3128, "protocol": "TCP"}]}
    assert found["git"]["egress"] == [DNS, IN_CLUSTER, at]


def test_what_is_reached_without_the_proxy_is_reached_as_before() -> None:
    found = limits(asks=MODELS[1:], proxy={"url": PROXY, "noProxy": ["git.example"]})

    assert found["git"]["egress"] == [DNS, HTTPS]
    assert found["judge"]["egress"] == [TO_PROXY]


def test_a_provider_whose_host_nobody_names_may_be_asked_either_way() -> None:
    judge = limits(asks=MODELS[:1], proxy={"url": PROXY})["judge"]

    assert judge["egress"] == [HTTPS, TO_PROXY]


@pytest.mark.parametrize(
    "text", ["", "{}", "10", "[10]", '["10.0.0.1/8"]', '["0.0.0.0/0"]', '["::/0"]', '["git"]']
)
def test_what_is_no_list_of_ranges_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="rang"):
        ranges(text)


def test_by_default_they_are_private_addresses() -> None:
    assert PLAIN_SETTINGS.internal == PRIVATE


def test_a_project_says_where_its_git_server_is() -> None:
    found = policies(git=[IN_CLUSTER])

    assert found["git"]["egress"] == [DNS, IN_CLUSTER]
    assert found["checks"]["egress"] == [DNS, IN_CLUSTER]


def test_what_checks_may_reach_more_is_theirs_alone() -> None:
    found = policies(checks=[INDEX])

    assert found["checks"]["egress"] == [DNS, HTTPS, INDEX]
    assert found["git"]["egress"] == [DNS, HTTPS]


def test_rules_of_a_project_stand_in_its_policy_with_every_field() -> None:
    rule = {
        "to": [
            {"ipBlock": {"cidr": "192.0.2.0/24", "except": ["192.0.2.7/32"]}},
            {
                "namespaceSelector": {"matchLabels": {"team": "tools"}},
                "podSelector": {"matchLabels": {"app": "index"}},
            },
        ],
        "ports": [{"port": 443, "protocol": "TCP"}, {"port": 80, "endPort": 90, "protocol": "UDP"}],
    }

    assert policies(checks=[rule])["checks"]["egress"] == [DNS, HTTPS, rule]


@pytest.mark.parametrize(
    ("url", "server"),
    [
        (None, []),
        (
            "https://bernstein-server.bernstein-system.svc:8052",
            [
                {
                    "ports": [{"port": 8052, "protocol": "TCP"}],
                    "to": [
                        {
                            "namespaceSelector": {
                                "matchLabels": {"kubernetes.io/metadata.name": "bernstein-system"}
                            }
                        }
                    ],
                }
            ],
        ),
        ("https://callbacks.example", [{"ports": [{"port": 443, "protocol": "TCP"}]}]),
    ],
)
def test_agents_that_are_limited_still_reach_dns_git_and_our_server(
    url: str | None, server: list[Any]
) -> None:
    found = policies(replace(FULL_SETTINGS, callback_url=url), agents=[INDEX])

    assert found["agents"]["egress"] == [DNS, HTTPS, *server, INDEX]


def test_a_project_that_manages_its_network_itself_gets_none() -> None:
    assert policies(policy="Unmanaged") == {}


def test_two_projects_of_a_namespace_have_policies_of_their_own() -> None:
    def named(project: Project) -> set[str]:
        return {p["metadata"]["name"] for p in build(project, PLAIN_SETTINGS)}

    assert named(objects.project("a")).isdisjoint(named(objects.project("a-git")))
    assert all(len(name) <= 63 for name in named(objects.project("x" * 63)))


def test_names_are_asked_of_the_clusters_own_dns_and_of_no_other_server() -> None:
    """Any server that answers on port 53 takes what it is asked as data."""
    found = limits(agents=[], checks=[INDEX])

    for spec in found.values():
        rules = [rule for rule in spec["egress"] if rule.get("ports") == DNS["ports"]]
        (asks,) = rules
        assert asks["to"] == [
            {
                "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
                "podSelector": {"matchLabels": labels_},
            }
            for namespace, labels_ in (
                ("kube-system", {"k8s-app": "kube-dns"}),
                ("openshift-dns", {"dns.operator.openshift.io/daemonset-dns": "default"}),
            )
        ]


def test_dns_is_where_the_operator_is_told_that_it_is() -> None:
    local = peers('[{"ipBlock": {"cidr": "169.254.20.10/32"}}]')

    found = limits(replace(PLAIN_SETTINGS, dns=local), agents=[])

    for spec in found.values():
        assert spec["egress"][0]["to"] == [{"ipBlock": {"cidr": "169.254.20.10/32"}}]


@pytest.mark.parametrize(
    "text",
    [
        *("", "{}", "[]", "[1]", '"anywhere"'),
        '[{"podSelector": {"matchExpressions": [{"key": "a", "operator": "Exists"}]}}]',
        '[{"ipBlock": {"cidr": "192.0.2.0/24", "excpt": ["192.0.2.1/32"]}}]',
    ],
)
def test_what_is_no_list_of_peers_is_refused_and_never_taken_for_everywhere(text: str) -> None:
    with pytest.raises(ValueError, match="peer"):
        peers(text)
