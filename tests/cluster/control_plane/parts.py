"""Command lines of etcd, API server and controller manager, and the audit policy."""

from __future__ import annotations

from collections.abc import Mapping

from tests.cluster.binaries.build import Binaries
from tests.cluster.layout import Layout

LOOPBACK = "127.0.0.1"


def etcd(layout: Layout, binaries: Binaries) -> list[str]:
    """etcd in an empty folder, without waiting for the disk: its data dies with the cluster."""
    client = f"http://{LOOPBACK}:{layout.ports['etcd']}"
    peer = f"http://{LOOPBACK}:{layout.ports['etcd-peer']}"
    return [
        str(binaries.path("etcd")),
        f"--data-dir={layout.folder}/etcd",
        f"--listen-client-urls={client}",
        f"--advertise-client-urls={client}",
        f"--listen-peer-urls={peer}",
        f"--initial-advertise-peer-urls={peer}",
        f"--initial-cluster=default={peer}",
        "--unsafe-no-fsync",
        "--log-level=warn",
    ]


def kube_apiserver(layout: Layout, binaries: Binaries, *, node: bool) -> list[str]:
    """The API server with RBAC, default admission (Pod Security and policies among it) and an
    audit log of all writes."""
    pki = layout.pki
    arguments = [
        str(binaries.path("kube-apiserver")),
        f"--etcd-servers=http://{LOOPBACK}:{layout.ports['etcd']}",
        f"--bind-address={layout.address}",
        f"--secure-port={layout.ports['kube-apiserver']}",
        f"--advertise-address={layout.node_address}",
        f"--tls-cert-file={pki}/kube-apiserver.crt",
        f"--tls-private-key-file={pki}/kube-apiserver.key",
        f"--client-ca-file={pki}/ca.crt",
        f"--service-account-key-file={pki}/service-accounts.pub",
        f"--service-account-signing-key-file={pki}/service-accounts.key",
        "--service-account-issuer=https://kubernetes.default.svc",
        f"--service-cluster-ip-range={layout.services}",
        "--authorization-mode=Node,RBAC",
        # The second wants a right on an owner's finalizers for what the owner waits for.
        "--enable-admission-plugins=NodeRestriction,OwnerReferencesPermissionEnforcement",
        f"--audit-policy-file={layout.folder}/audit-policy.json",
        f"--audit-log-path={layout.audit_log}",
        "--audit-log-maxsize=1000",
    ]
    if not node:
        # Nothing could reach the address in the endpoints of the Service `kubernetes`.
        return [*arguments, "--endpoint-reconciler-type=none"]
    return [
        *arguments,
        "--allow-privileged=true",
        "--kubelet-preferred-address-types=InternalIP",
        f"--kubelet-certificate-authority={pki}/ca.crt",
        f"--kubelet-client-certificate={pki}/kubelet-client.crt",
        f"--kubelet-client-key={pki}/kubelet-client.key",
    ]


def kube_controller_manager(layout: Layout, binaries: Binaries) -> list[str]:
    """The controller manager; its default limits would hold a cluster to three Jobs a second."""
    kubeconfig = f"{layout.folder}/kube-controller-manager.kubeconfig"
    return [
        str(binaries.path("kube-controller-manager")),
        f"--kubeconfig={kubeconfig}",
        f"--authentication-kubeconfig={kubeconfig}",
        f"--authorization-kubeconfig={kubeconfig}",
        f"--bind-address={LOOPBACK}",
        f"--secure-port={layout.ports['kube-controller-manager']}",
        f"--service-account-private-key-file={layout.pki}/service-accounts.key",
        f"--root-ca-file={layout.pki}/ca.crt",
        "--use-service-account-credentials=true",
        "--leader-elect=false",
        "--kube-api-qps=1000",
        "--kube-api-burst=2000",
        "--concurrent-job-syncs=20",
    ]


def audit_policy() -> Mapping[str, object]:
    """Two lines per write, when it comes and when it has finished: then with what was sent for our
    own kinds, without for all others."""
    writes = ["create", "update", "patch", "delete", "deletecollection"]
    return {
        "apiVersion": "audit.k8s.io/v1",
        "kind": "Policy",
        "rules": [
            {
                "level": "Request",
                "verbs": writes,
                "resources": [{"group": "bernstein.dev"}],
            },
            {"level": "Metadata", "verbs": writes},
            {"level": "None"},
        ],
    }
