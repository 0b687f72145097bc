"""The gate `dep_audit` in real pods: it asks the database that its Project names."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from tests.demo import certificate, manifests
from tests.demo.certificate import Certificate
from tests.e2e.conftest import MakeWorld, Object, World
from tests.e2e.gates.groups import begun, written
from tests.e2e.gates.test_every_gate import ENOUGH, verdicts
from tests.stack import Stack
from tests.unit.checks import examples

pytestmark = pytest.mark.verification

EXAMPLE = examples.of_gate("dep_audit")


@dataclass(frozen=True)
class Database:
    namespace: str
    certificate: Certificate

    @property
    def settings(self) -> Object:
        """As a gate names it; the Project's namespace has its authority."""
        url = f"https://osv.{self.namespace}.svc:{manifests.OSV_PORT}/v1/query"
        return {"url": url, "ca": {"name": "osv-ca"}}

    @property
    def rule(self) -> Object:
        """By which checks may connect to it, and to nothing else."""
        namespace = {"matchLabels": {"kubernetes.io/metadata.name": self.namespace}}
        ports = [{"port": manifests.OSV_PORT}]
        return {"to": [{"namespaceSelector": namespace}], "ports": ports}


@pytest.fixture(scope="module")
def database(stack: Stack) -> Iterator[Database]:
    namespace = f"osv-{uuid.uuid4().hex[:6]}"
    issued = certificate.issue([f"osv.{namespace}.svc"])
    objects = [manifests.namespace(namespace), *manifests.osv(namespace, issued)]
    stack.kubectl("apply", "-f", "-", stdin=manifests.as_list(objects))
    ready = ("rollout", "status", "deployment/osv", "--timeout=120s")
    stack.kubectl("-n", namespace, *ready)
    yield Database(namespace, issued)
    stack.kubectl("delete", "namespace", namespace, "--wait=false")


def begin(make: MakeWorld, database: Database, network: Object) -> World:
    """A Task that pins a weak version, and one that pins a sound one."""

    def change(spec: Object) -> None:
        spec["toolchain"]["resources"] = {"cpu": "1", "memory": "512Mi"}
        spec["gates"] = {"pipeline": [{"name": "dep_audit", "database": database.settings}]}
        spec["network"].update(network)

    works = {"weak": written(EXAMPLE.reject), "sound": written(EXAMPLE.accept)}
    here = begun(make, EXAMPLE.accept.before, works, change)
    ca = {"kind": "ConfigMap", "metadata": {"name": "osv-ca"}}
    here.apply({"apiVersion": "v1", **ca, "data": {"ca.crt": database.certificate.ca}})
    for title in works:
        here.task(title, maxRetries=0)
    return here


def denied(task: Object) -> bool:
    checks = task["status"]["verification"]["checks"]
    return [check.get("reason") for check in checks] == ["NetworkDenied"]


def test_weak_versions_are_rejected_sound_ones_accepted_and_none_unasked(
    world: MakeWorld, database: Database
) -> None:
    """Without a way to the database neither version is taken for sound or for weak."""
    opened = begin(world, database, {"checks": [database.rule]})
    closed = begin(world, database, {})

    rejected = opened.stalled("task", "weak", "GateFailed", ENOUGH)
    accepted = opened.closed("sound", ENOUGH)
    unasked = [closed.await_("task", title, denied, ENOUGH) for title in ("weak", "sound")]

    (told,) = rejected["status"]["verification"]["checks"]
    assert (told["name"], told["verdict"], told["reason"]) == ("dep_audit", "Failed", "NewFindings")
    assert "leaky PYSEC-leak 1.0 of requirements.txt: high" in told["excerpt"]
    assert verdicts(accepted) == {"dep_audit": "Passed"}
    assert opened.files().count("requirements-dev.txt") == 1
    for task in unasked:
        assert verdicts(task) == {"dep_audit": "Errored"}
        (check,) = task["status"]["verification"]["checks"]
        assert "network.checks" in check["excerpt"]
    assert "requirements-dev.txt" not in closed.files()
