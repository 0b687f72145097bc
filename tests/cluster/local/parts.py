"""Command lines and configuration of what makes a node: containerd, kubelet, kube-proxy,
scheduler, network policies and DNS.

CoreDNS runs as a process of the machine behind the usual Service `kube-dns`, whose endpoint is
the bridge's address. As a Deployment it would have to be imported, scheduled and started after
the node is Ready (some 3 s of every start), and nothing in pods could tell the difference; as a
process it also reads the machine's resolv.conf where a loopback resolver is meant. It has the
usual port, because a NetworkPolicy speaks of the port behind a Service.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from tests.cluster.binaries.build import Binaries
from tests.cluster.control_plane.parts import LOOPBACK
from tests.cluster.interface import PROCESSES_OF_A_POD
from tests.cluster.layout import CLUSTER_DOMAIN, DNS_PORT, NODE_NAME, Layout
from tests.cluster.machine.packages import program
from tests.cluster.machine.paths import REPOSITORY
from tests.cluster.network_policy import plugin

POLICY_PLUGIN = "bernstein-network-policy"


def containerd_config(layout: Layout, pause: str) -> str:
    """containerd's TOML: all folders our own, so that no other containerd is touched.

    restrict_oom_score_adj: a root without CAP_SYS_RESOURCE may not lower the score below its own
    and runc dies of it.
    """
    return f"""version = 2
root = "{layout.image_store}"
state = "{layout.containerd_state}"
disabled_plugins = [
  "io.containerd.snapshotter.v1.aufs",
  "io.containerd.snapshotter.v1.btrfs",
  "io.containerd.snapshotter.v1.devmapper",
  "io.containerd.snapshotter.v1.zfs",
]
[grpc]
  address = "{layout.containerd_socket}"
[plugins."io.containerd.internal.v1.opt"]
  path = "{layout.image_store}/opt"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "{pause}"
  restrict_oom_score_adj = true
  netns_mounts_under_state_dir = true
  stream_server_address = "{LOOPBACK}"
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "{layout.cni_plugins}"
    conf_dir = "{layout.folder}/cni"
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
"""


def cni_config(layout: Layout) -> Mapping[str, object]:
    """CNI: pods on our bridge, addresses recorded in the cluster's folder, no iptables; then
    the pod's network policies."""
    bridge = {
        "type": "bridge",
        "bridge": layout.bridge,
        "isGateway": True,
        "hairpinMode": True,
        "ipMasq": False,
        "ipam": {
            "type": "host-local",
            "dataDir": f"{layout.folder}/addresses",
            "ranges": [[{"subnet": str(layout.pods), "gateway": layout.node_address}]],
            "routes": [{"dst": "0.0.0.0/0"}],
        },
    }
    policies = {"type": POLICY_PLUGIN, "socket": str(layout.policy_socket)}
    return {"cniVersion": "0.4.0", "name": layout.network, "plugins": [bridge, policies]}


def policy_plugin() -> str:
    """Text of the CNI plugin's program. Its interpreter looks at no packages and no environment,
    which would cost a pod more time than the plugin itself."""
    interpreter = Path(sys.executable).resolve()
    return f"#!{interpreter} -ISE\n{Path(plugin.__file__).read_text()}"


def network_policy(layout: Layout, python: str) -> list[str]:
    """Command line of the engine of network policies, by a Python that has the packages of the
    development environment."""
    return [
        program("env"),
        f"PYTHONPATH={REPOSITORY}:{REPOSITORY}/operator",
        python,
        "-m",
        "tests.cluster.network_policy.engine",
        f"--server={layout.server}",
        f"--pki={layout.pki}",
        f"--socket={layout.policy_socket}",
        f"--table={layout.network}",
        f"--bridge={layout.bridge}",
    ]


def network_policy_objects() -> list[tuple[str, Mapping[str, object]]]:
    """Path and object of the rights of the engine of network policies."""
    return _rights(
        "system:network-policy",
        {"": ["namespaces", "pods"], "networking.k8s.io": ["networkpolicies"]},
    )


def kubelet(layout: Layout, binaries: Binaries) -> list[str]:
    """kubelet's command line."""
    return [
        str(binaries.path("kubelet")),
        f"--config={layout.folder}/kubelet.json",
        f"--kubeconfig={layout.folder}/kubelet.kubeconfig",
        f"--hostname-override={NODE_NAME}",
        f"--node-ip={layout.node_address}",
        f"--root-dir={layout.kubelet_root}",
        f"--cert-dir={layout.kubelet_root}/pki",
    ]


def kubelet_config(layout: Layout) -> Mapping[str, object]:
    """KubeletConfiguration: strict about who asks, generous about the machine's disk, and silent
    about iptables and folders outside the cluster's own."""
    return {
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "address": layout.node_address,
        "port": layout.ports["kubelet"],
        "healthzBindAddress": LOOPBACK,
        "healthzPort": layout.ports["kubelet-health"],
        "readOnlyPort": 0,
        "authentication": {
            "anonymous": {"enabled": False},
            "webhook": {"enabled": True},
            "x509": {"clientCAFile": f"{layout.pki}/ca.crt"},
        },
        "authorization": {"mode": "Webhook"},
        "tlsCertFile": f"{layout.pki}/kubelet.crt",
        "tlsPrivateKeyFile": f"{layout.pki}/kubelet.key",
        "containerRuntimeEndpoint": f"unix://{layout.containerd_socket}",
        "cgroupDriver": "cgroupfs",
        "cgroupRoot": layout.cgroup,
        "failCgroupV1": False,
        "failSwapOn": False,
        "makeIPTablesUtilChains": False,
        "podLogsDir": str(layout.pod_logs),
        "volumePluginDir": f"{layout.folder}/volume-plugins",
        "clusterDNS": [layout.dns_service],
        "clusterDomain": CLUSTER_DOMAIN,
        "maxPods": 110,
        "podPidsLimit": PROCESSES_OF_A_POD,
        "seccompDefault": True,
        "serializeImagePulls": False,
        "kubeAPIQPS": 500,
        "kubeAPIBurst": 1000,
        "eventRecordQPS": 0,
        "evictionHard": {
            "imagefs.available": "1%",
            "memory.available": "100Mi",
            "nodefs.available": "1%",
        },
        "imageGCHighThresholdPercent": 100,
        "imageGCLowThresholdPercent": 99,
    }


def kube_proxy(layout: Layout, binaries: Binaries) -> list[str]:
    """kube-proxy's command line."""
    return [str(binaries.path("kube-proxy")), f"--config={layout.folder}/kube-proxy.json"]


def kube_proxy_config(layout: Layout) -> Mapping[str, object]:
    """KubeProxyConfiguration: nftables, and the kernel's connection tracking limits left alone."""
    return {
        "apiVersion": "kubeproxy.config.k8s.io/v1alpha1",
        "kind": "KubeProxyConfiguration",
        "clientConnection": {"kubeconfig": f"{layout.folder}/kube-proxy.kubeconfig"},
        "mode": "nftables",
        "clusterCIDR": str(layout.pods),
        "hostnameOverride": NODE_NAME,
        "healthzBindAddress": f"{LOOPBACK}:{layout.ports['kube-proxy-health']}",
        "metricsBindAddress": f"{LOOPBACK}:{layout.ports['kube-proxy-metrics']}",
        "nftables": {"syncPeriod": "30s", "minSyncPeriod": "100ms"},
        "conntrack": {
            "maxPerCore": 0,
            "min": 0,
            "tcpCloseWaitTimeout": "0s",
            "tcpEstablishedTimeout": "0s",
        },
    }


def kube_scheduler(layout: Layout, binaries: Binaries) -> list[str]:
    """The scheduler's command line."""
    kubeconfig = f"{layout.folder}/kube-scheduler.kubeconfig"
    return [
        str(binaries.path("kube-scheduler")),
        f"--config={layout.folder}/kube-scheduler.json",
        f"--authentication-kubeconfig={kubeconfig}",
        f"--authorization-kubeconfig={kubeconfig}",
        f"--bind-address={LOOPBACK}",
        f"--secure-port={layout.ports['kube-scheduler']}",
    ]


def kube_scheduler_config(layout: Layout) -> Mapping[str, object]:
    """KubeSchedulerConfiguration: alone, and not throttled."""
    kubeconfig = f"{layout.folder}/kube-scheduler.kubeconfig"
    return {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "leaderElection": {"leaderElect": False},
        "clientConnection": {"kubeconfig": kubeconfig, "qps": 1000, "burst": 2000},
    }


def coredns(layout: Layout, binaries: Binaries) -> list[str]:
    """CoreDNS's command line."""
    return [str(binaries.path("coredns")), "-conf", f"{layout.folder}/Corefile"]


def corefile(layout: Layout, *, upstream: bool) -> str:
    """Corefile: cluster names from the API, all others from the machine's resolvers, if any."""
    forward = "  forward . /etc/resolv.conf\n" if upstream else ""
    return f""".:{DNS_PORT} {{
  bind {layout.node_address}
  errors
  ready {LOOPBACK}:{layout.ports["coredns-ready"]}
  kubernetes {CLUSTER_DOMAIN} in-addr.arpa ip6.arpa {{
    kubeconfig {layout.folder}/coredns.kubeconfig
    pods insecure
    ttl 5
  }}
{forward}  cache 5
}}
"""


def dns_objects(layout: Layout) -> list[tuple[str, Mapping[str, object]]]:
    """Path and object of all that the cluster's DNS needs in the API."""
    protocols = {"dns": "UDP", "dns-tcp": "TCP"}
    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "kube-dns", "labels": {"k8s-app": "kube-dns"}},
        "spec": {
            "clusterIP": layout.dns_service,
            "ports": [
                {"name": key, "port": DNS_PORT, "protocol": value, "targetPort": DNS_PORT}
                for key, value in protocols.items()
            ],
        },
    }
    slice_ = {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {
            "name": "kube-dns-node",
            "labels": {"kubernetes.io/service-name": "kube-dns"},
        },
        "addressType": "IPv4",
        "endpoints": [{"addresses": [layout.node_address], "conditions": {"ready": True}}],
        "ports": [
            {"name": key, "port": DNS_PORT, "protocol": value} for key, value in protocols.items()
        ],
    }
    system = "/namespaces/kube-system"
    return [
        *_rights(
            "system:coredns",
            {
                "": ["endpoints", "services", "pods", "namespaces"],
                "discovery.k8s.io": ["endpointslices"],
            },
        ),
        (f"/api/v1{system}/services", service),
        (f"/apis/discovery.k8s.io/v1{system}/endpointslices", slice_),
    ]


def _rights(user: str, watched: Mapping[str, list[str]]) -> list[tuple[str, Mapping[str, object]]]:
    """What lets a user list and watch resources (by API group), and nothing else."""
    rbac = "rbac.authorization.k8s.io"
    name = {"name": user}
    role = {
        "apiVersion": f"{rbac}/v1",
        "kind": "ClusterRole",
        "metadata": name,
        "rules": [
            {"apiGroups": [group], "resources": resources, "verbs": ["list", "watch"]}
            for group, resources in watched.items()
        ],
    }
    binding = {
        "apiVersion": f"{rbac}/v1",
        "kind": "ClusterRoleBinding",
        "metadata": name,
        "roleRef": {"apiGroup": rbac, "kind": "ClusterRole", **name},
        "subjects": [{"apiGroup": rbac, "kind": "User", **name}],
    }
    return [
        (f"/apis/{rbac}/v1/clusterroles", role),
        (f"/apis/{rbac}/v1/clusterrolebindings", binding),
    ]
