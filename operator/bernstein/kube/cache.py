"""The local copy of one resource's objects, with indexes, kept by an informer."""

from collections.abc import Callable, Collection, Mapping
from typing import TypeAlias

import structlog

from bernstein.kube.resource import Key, Object, controller_of, key_of, resource_version_of, uid_of

log = structlog.get_logger(__name__)

IndexFunction: TypeAlias = Callable[[Object], Collection[str]]
Keeps: TypeAlias = Callable[[str], bool]
Handler: TypeAlias = Callable[[Object | None, Object | None], None]


def by_controller_uid(obj: Object) -> Collection[str]:
    """Indexes dependants by the uid of the owner that has ``controller: true``."""
    controller = controller_of(obj)
    return () if controller is None else (controller["uid"],)


def by_label(label: str) -> IndexFunction:
    """Indexes objects by the value of a label; those without it are in no entry."""

    def values(obj: Object) -> Collection[str]:
        value = obj["metadata"].get("labels", {}).get(label)
        return () if value is None else (value,)

    return values


class Cache:
    """Objects by key. ``changed(old, new)`` is called once for every difference.

    For an object that was deleted and made again under the same name it is called twice, first for
    the deletion.
    """

    def __init__(
        self,
        indexes: Mapping[str, IndexFunction],
        changed: Handler,
        annotations: Keeps | None = None,
    ) -> None:
        """`annotations`: which are kept, by name; None: all. Anybody may write 256 KiB of them."""
        self._keeps = annotations
        self._objects: dict[Key, Object] = {}
        self._functions = dict(indexes)
        self._indexes: dict[str, dict[str, dict[Key, None]]] = {name: {} for name in indexes}
        self._changed = changed

    def __len__(self) -> int:
        return len(self._objects)

    def get(self, key: Key) -> Object | None:
        return self._objects.get(key)

    def objects(self, namespace: str | None = None) -> list[Object]:
        if namespace is None:
            return list(self._objects.values())
        return [obj for key, obj in self._objects.items() if key.namespace == namespace]

    def by_index(self, index: str, value: str) -> list[Object]:
        return [self._objects[key] for key in self._indexes[index].get(value, ())]

    def keys(self, namespace: str | None = None) -> list[Key]:
        return [key for key in self._objects if namespace in (None, key.namespace)]

    def place(self, key: Key, obj: Object | None) -> bool:
        """Makes the cache show what a list says of this key; None: the list has no such object.

        Returns whether it showed anything else.
        """
        before = self._objects.get(key)
        if obj is not None:
            self._put(key, obj)
        elif before is not None:
            self._set(key, None)
        return self._objects.get(key) is not before

    def update(self, obj: Object) -> None:
        """An object was added or modified; states older than the cached one are ignored, also those
        of a former object of that name."""
        key = key_of(obj)
        old = self._objects.get(key)
        if old is None or resource_version_of(old) < resource_version_of(obj):
            self._put(key, obj)

    def delete(self, obj: Object) -> None:
        """An object was deleted; ``obj`` is its last state, which handlers get as the old one."""
        key = key_of(obj)
        old = self._objects.get(key)
        if old is not None and uid_of(old) == uid_of(obj):
            self._lighten(obj)
            self._set(key, None, last=obj)

    def _put(self, key: Key, obj: Object) -> None:
        old = self._objects.get(key)
        if old is not None:
            if uid_of(old) != uid_of(obj):
                self._set(key, None)
            elif resource_version_of(old) == resource_version_of(obj):
                return
        self._lighten(obj)
        self._set(key, obj)

    def _lighten(self, obj: Object) -> None:
        """Takes out of the object what nobody reads."""
        metadata, keeps = obj["metadata"], self._keeps
        metadata.pop("managedFields", None)
        if keeps is not None and "annotations" in metadata:
            read = {name: said for name, said in metadata["annotations"].items() if keeps(name)}
            metadata["annotations"] = read

    def _set(self, key: Key, new: Object | None, *, last: Object | None = None) -> None:
        old = self._objects.get(key)
        for name, function in self._functions.items():
            before, after = _values(name, function, old), _values(name, function, new)
            if before == after:
                continue
            index = self._indexes[name]
            for value in set(before).difference(after):
                del index[value][key]
                if not index[value]:
                    del index[value]
            for value in after:
                index.setdefault(value, {})[key] = None
        if new is None:
            del self._objects[key]
        else:
            self._objects[key] = new
        self._changed(last or old, new)


def _values(name: str, function: IndexFunction, obj: Object | None) -> Collection[str]:
    """The entries of an object; none of one that the function cannot read."""
    if obj is None:
        return ()
    try:
        return function(obj)
    except Exception:
        log.exception("index failed", index=name, key=str(key_of(obj)))
        return ()
