"""What a container of a pod is given of Secrets and tokens, as the pod's spec says it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Object = dict[str, Any]
_TELL_NOTHING = ("emptyDir", "configMap", "persistentVolumeClaim")


def held(pod: Object, container: Object) -> Iterator[str]:
    """Each as `SECRET/KEY`, `variable SECRET/KEY` or `token for AUDIENCE`. Whatever else could
    bring one in fails."""
    volumes = {volume["name"]: volume for volume in pod.get("volumes", ())}
    assert "envFrom" not in container
    for each in container.get("volumeMounts", ()):
        yield from _of_volume(volumes[each["name"]])
    for variable in container.get("env", ()):
        source = variable.get("valueFrom")
        if source is not None:
            (reference,) = source.values()
            assert list(source) == ["secretKeyRef"]
            yield f"variable {reference['name']}/{reference['key']}"


def _of_volume(volume: Object) -> Iterator[str]:
    (kind,) = volume.keys() - {"name"}
    match kind:
        case "secret":
            source = volume["secret"]
            assert source["defaultMode"] == 0o440
            for item in source["items"]:
                yield f"{source['secretName']}/{item['key']}"
        case "projected":
            for source in volume["projected"]["sources"]:
                (token,) = source.values()
                assert list(source) == ["serviceAccountToken"]
                yield f"token for {token['audience']}"
        case _:
            assert kind in _TELL_NOTHING, f"nobody knows what a {kind} tells"
