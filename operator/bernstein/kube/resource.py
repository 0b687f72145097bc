"""Resources (kinds as the API names them), keys of objects, and access to their metadata.

Objects are the raw JSON dicts of the API server and are treated as immutable by everyone.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias
from urllib.parse import quote

Object: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Resource:
    """One resource type of the API, as it appears in URLs (``plural``) and objects (``kind``)."""

    group: str
    version: str
    plural: str
    kind: str
    namespaced: bool = True

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    def path(
        self, namespace: str | None = None, name: str | None = None, subresource: str | None = None
    ) -> str:
        """URL path of the collection, of one object, or of an object's subresource."""
        parts = ["/apis", self.group, self.version] if self.group else ["/api", self.version]
        if self.namespaced and namespace:
            parts += ["namespaces", _segment(namespace)]
        elif self.namespaced and name:
            raise ValueError(f"{self.kind} {name!r} is namespaced: pass its namespace")
        parts.append(self.plural)
        if name is not None:
            parts.append(_segment(name))
        if subresource:
            parts.append(subresource)
        return "/".join(parts)


def _segment(name: str) -> str:
    # "" or ".." would address the collection or the namespace, and DELETE would empty it.
    if name in {"", ".", ".."}:
        raise ValueError(f"{name!r} is no object name")
    return quote(name, safe="")


PODS = Resource("", "v1", "pods", "Pod")
CONFIG_MAPS = Resource("", "v1", "configmaps", "ConfigMap")
JOBS = Resource("batch", "v1", "jobs", "Job")
NETWORK_POLICIES = Resource("networking.k8s.io", "v1", "networkpolicies", "NetworkPolicy")
SECRETS = Resource("", "v1", "secrets", "Secret")
LEASES = Resource("coordination.k8s.io", "v1", "leases", "Lease")
EVENTS = Resource("", "v1", "events", "Event")
TOKEN_REVIEWS = Resource(
    "authentication.k8s.io", "v1", "tokenreviews", "TokenReview", namespaced=False
)
SELF_SUBJECT_ACCESS_REVIEWS = Resource(
    "authorization.k8s.io",
    "v1",
    "selfsubjectaccessreviews",
    "SelfSubjectAccessReview",
    namespaced=False,
)
SELF_SUBJECT_REVIEWS = Resource(
    "authentication.k8s.io", "v1", "selfsubjectreviews", "SelfSubjectReview", namespaced=False
)


class Key(NamedTuple):
    """Identity of an object within its resource; ``namespace`` is "" for cluster-scoped ones."""

    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}" if self.namespace else self.name


def key_of(obj: Object) -> Key:
    metadata = obj["metadata"]
    # By a call of Key it takes a third longer, and it is asked for hundreds of times for each pod.
    return tuple.__new__(Key, (metadata.get("namespace", ""), metadata["name"]))


def uid_of(obj: Object) -> str:
    uid: str = obj["metadata"]["uid"]
    return uid


def resource_version_of(obj: Object) -> int:
    """The object's revision. The API guarantees that revisions of one resource can be compared."""
    return int(obj["metadata"].get("resourceVersion") or 0)


def is_deleting(obj: Object) -> bool:
    return "deletionTimestamp" in obj["metadata"]


def controller_of(obj: Object) -> Object | None:
    """The owner reference that has ``controller: true``, if any."""
    for reference in obj["metadata"].get("ownerReferences", ()):
        if reference.get("controller"):
            controller: Object = reference
            return controller
    return None


def selectors_of(label_selector: str | None, field_selector: str | None) -> dict[str, str]:
    """The parameters of a request for those objects alone."""
    given = {"labelSelector": label_selector, "fieldSelector": field_selector}
    return {name: value for name, value in given.items() if value}
