"""What a Project says of its pods' network: rules in the words of NetworkPolicy."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from bernstein.api.meta import Model, cel, refuses, rule
from bernstein.api.projects.credentials import ConfigMapKey
from bernstein.api.projects.labels import Labels

Cidr = Annotated[str, Field(max_length=43, json_schema_extra={"format": "cidr"})]
PortNumber = Annotated[int, Field(ge=1, le=65535)]


class Selector(Model):
    """Objects with these labels; without any, all objects."""

    match_labels: Labels | None = None
    """Labels that they all have."""


class IPBlock(Model):
    model_config = {
        **Model.model_config,
        "json_schema_extra": cel(
            rule(
                "!has(self.except) || self.except.all(e, e != self.cidr && isCIDR(self.cidr) "
                "&& isCIDR(e) && cidr(self.cidr).containsCIDR(e))",
                "every part that is not meant lies within cidr, and is smaller",
                fieldPath=".except",
            ),
        ),
    }

    cidr: Cidr
    """Addresses, such as 192.0.2.0/24."""
    except_: Annotated[tuple[Cidr, ...], Field(min_length=1, max_length=16)] | None = Field(
        default=None, alias="except", description="Parts of `cidr` that are not meant."
    )


class NetworkPeer(Model):
    """Addresses, or pods: of this namespace, of chosen namespaces, or chosen pods of those."""

    model_config = {
        **Model.model_config,
        "json_schema_extra": cel(
            rule(
                "has(self.ipBlock) != (has(self.podSelector) || has(self.namespaceSelector))",
                "a peer is an ipBlock, or has a podSelector, a namespaceSelector or both",
            ),
        ),
    }

    ip_block: IPBlock | None = None
    """Addresses."""
    pod_selector: Selector | None = None
    namespace_selector: Selector | None = None


class Port(Model):
    model_config = {
        **Model.model_config,
        "json_schema_extra": cel(
            rule(
                "!has(self.endPort) || self.endPort >= self.port",
                "endPort is the last of the ports that begin with port",
                fieldPath=".endPort",
            ),
        ),
    }

    port: PortNumber = Field(
        description="Where pods are meant, the pod's port and not its Service's."
    )
    end_port: PortNumber | None = None
    """Last port of a range; absent: `port` alone."""
    protocol: Literal["TCP", "UDP", "SCTP"] = "TCP"


class EgressRule(Model):
    """Connections to any of `to` (absent: anywhere) on any of `ports` (absent: all)."""

    to: Annotated[tuple[NetworkPeer, ...], Field(min_length=1, max_length=16)] | None = None
    """Where to; absent: anywhere."""
    ports: Annotated[tuple[Port, ...], Field(min_length=1, max_length=16)] | None = None
    """Which ports; absent: all."""


EgressRules = Annotated[tuple[EgressRule, ...], Field(max_length=16)]


HostName = Annotated[
    str, Field(pattern=r"^[A-Za-z0-9]([-A-Za-z0-9.]*[A-Za-z0-9])?$", max_length=253)
]


class Proxy(Model):
    """A proxy through which git, models and the forge are reached, by CONNECT alone: it is told
    host and port, and sees no credential."""

    url: Annotated[
        str,
        Field(
            pattern=r"^http://[A-Za-z0-9]([-A-Za-z0-9.]*[A-Za-z0-9])?:[0-9]{1,5}/?$", max_length=300
        ),
    ] = Field(description="http address, with the port and without a user.")
    no_proxy: Annotated[tuple[HostName, ...], Field(max_length=32)] = Field(
        default=(),
        description="Hosts that are reached without it, each with all below it: `example.com` is "
        "also `git.example.com`.",
    )
    peers: Annotated[tuple[NetworkPeer, ...], Field(min_length=1, max_length=16)] | None = Field(
        default=None,
        description="Where it is, for NetworkPolicies; absent: as of `git`, by its address.",
    )
    variables: Annotated[tuple[Literal["Agents", "Checks"], ...], Field(max_length=2)] = Field(
        default=(),
        description="Whose commands get the variables HTTPS_PROXY, HTTP_PROXY and NO_PROXY, by "
        "which most programs use it.",
    )


class Network(Model):
    """What the Project's pods may connect to. It takes a network that enforces NetworkPolicy."""

    model_config = {
        **Model.model_config,
        "json_schema_extra": cel(
            *(
                refuses(field, "self.policy == 'Unmanaged'", f"policy Unmanaged takes no '{field}'")
                for field in ("git", "checks", "agents", "models", "forge")
            ),
            rule(
                "self.policy != 'Unmanaged' || !has(self.proxy) || !has(self.proxy.peers)",
                "policy Unmanaged takes no 'proxy.peers'",
                fieldPath=".proxy.peers",
            ),
        ),
    }

    policy: Literal["Managed", "Unmanaged"] = Field(
        default="Managed",
        description="Managed: the operator keeps NetworkPolicies, by which every Job of ours but "
        "agents reaches DNS and the git server only. Unmanaged: it keeps none.",
    )
    proxy: Proxy | None = Field(
        default=None,
        description="What our Jobs reach git, models and the forge through; absent: nothing.",
    )
    ca: ConfigMapKey | None = Field(
        default=None,
        description="Certificate authorities that our programs trust beside those of git servers, "
        "models and the forge, such as that of a proxy which looks into connections.",
    )
    git: Annotated[EgressRules, Field(min_length=1)] | None = Field(
        default=None,
        description="Where the git server is; absent: the port of the repository's url, where that "
        "says (`.svc`, or an address), or anywhere outside the cluster.",
    )
    checks: Annotated[EgressRules, Field(min_length=1)] | None = Field(
        default=None, description="What the Jobs of signals and gates may reach beside that."
    )
    agents: EgressRules | None = Field(
        default=None,
        description="What agents may reach beside DNS, git and our server; absent: everything.",
    )
    models: Annotated[EgressRules, Field(min_length=1)] | None = Field(
        default=None,
        description="Where the Project's models are; absent: the ports of their addresses, as of "
        "`git`.",
    )
    forge: Annotated[EgressRules, Field(min_length=1)] | None = Field(
        default=None,
        description="Where the API of the repository's forge is; absent: the port of its address, "
        "as of `git`.",
    )
