"""The operator's part in tests of commands that ask for something: a request gets its answer."""

from __future__ import annotations

from bernstein.kube.client import Client
from bernstein.kube.resource import Object
from tests.control_plane.conftest import eventually
from tests.control_plane.objects import TASKS


async def answer_with(
    admin: Client, operator: Client, namespace: str, answer: Object, **status: object
) -> Object:
    """The request, once there is one; answered together with this status."""
    found: list[Object] = []

    async def there() -> bool:
        task = await admin.get(TASKS, "one", namespace)
        found[:] = task["spec"].get("requests", [])
        return bool(found)

    await eventually(there)
    (request,) = found
    said = answer | {name: request[name] for name in ("id", "verb", "by")}
    said |= {"asked": request["reason"], "time": "2030-01-01T00:00:00Z"}
    body = {"status": {"requests": [said], **status}}
    await operator.patch(TASKS, "one", namespace, body, subresource="status")
    return request
