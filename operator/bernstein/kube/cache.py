"""The local copy of one resource's objects, with indexes, kept by an informer.

What is kept for long and seldom read is packed: compressed JSON is a tenth of its dicts.
"""

from __future__ import annotations

import sys
import zlib
from collections import OrderedDict
from collections.abc import Callable, Collection, Hashable, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, Generic, TypeAlias, TypeVar

import orjson
import structlog

from bernstein.kube.resource import Key, Object, controller_of, key_of, resource_version_of, uid_of

log = structlog.get_logger(__name__)

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

IndexFunction: TypeAlias = Callable[[Object], Collection[str]]
Handler: TypeAlias = Callable[[Object | None, Object | None], None]
Strip: TypeAlias = Callable[[Object], Object]
Settled: TypeAlias = Callable[[Object], bool]

FASTEST = 1
"""Of zlib's levels; the best one saves 5 % more, and takes a fifth longer."""
MOST_ALIKE = 2**12
"""Bytes of what is alike: as many as a Task has. They are gone through for each that is packed."""
OPENED = 64
"""Packed objects that stay unpacked, those that were read last: a reconcile reads some several
times, and handlers of an event read its object one after another."""


MOST_OWNERS, MOST_FINALIZERS = 4, 16
"""That are kept, beside those that somebody asks for: that there are any is read of others."""
_LONGEST = 254
"""Characters of a text: one more than any name has, so that what was cut is nobody's name."""


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


@dataclass(frozen=True, slots=True)
class Read:
    """What is read of metadata, of which anybody may write a megabyte.

    Of owners that is the controller, and whether there are others; so of finalizers.
    """

    names: tuple[str, ...]
    """Of labels and annotations."""
    finalizers: tuple[str, ...]
    """Those that somebody looks for."""

    def lighten(self, metadata: Object) -> None:
        """Takes out what nobody reads. Nothing that is left may be written back as if it were
        all."""
        for part in ("labels", "annotations"):
            if part in metadata:
                said = metadata[part]
                metadata[part] = {n: _short(said[n]) for n in self.names if n in said}
        if "ownerReferences" in metadata:
            metadata["ownerReferences"] = _few_owners(metadata["ownerReferences"])
        if "finalizers" in metadata:
            each = dict.fromkeys(metadata["finalizers"])  # one may be there a thousand times
            first = list(islice(each, MOST_FINALIZERS))
            metadata["finalizers"] = [
                *first,
                *(name for name in self.finalizers if name in each and name not in first),
            ]


def _few_owners(owners: list[Object]) -> list[Object]:
    """The first ones, and the controller wherever it stands; the API server lets in only one."""
    behind = (owner for owner in owners[MOST_OWNERS:] if owner.get("controller"))
    kept = [*owners[:MOST_OWNERS], *islice(behind, 1)]
    return [{name: _short(said) for name, said in owner.items()} for owner in kept]


def _short(said: Any) -> Any:
    """It is kept once for all: an object, its owner, and its dependants say the same names."""
    return sys.intern(said[:_LONGEST]) if type(said) is str else said


@dataclass(frozen=True, slots=True)
class Packed:
    """An object, and which state of it this is."""

    uid: str
    revision: int
    data: bytes
    alike: bytes
    """What others of its kind say, too: needed to unpack it, and kept once for all."""

    def unpacked(self) -> Object:
        """The object, made anew at every call."""
        unpacking = zlib.decompressobj(zdict=self.alike)
        obj: Object = orjson.loads(unpacking.decompress(self.data))
        return obj


class Packing:
    """Packs objects of one kind. They are much alike, so of each is kept what the first of them
    does not say."""

    def __init__(self) -> None:
        self._alike = b""

    def pack(self, obj: Object) -> Packed:
        said = orjson.dumps(obj)
        if not self._alike:
            self._alike = said[:MOST_ALIKE]
        packing = zlib.compressobj(FASTEST, zdict=self._alike)
        data = packing.compress(said) + packing.flush()
        return Packed(uid_of(obj), resource_version_of(obj), data, self._alike)


class Recent(Generic[K, V]):
    """What was read last, so that what is read several times in a row is made once."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: OrderedDict[K, V] = OrderedDict()

    def get(self, key: K) -> V | None:
        value = self._values.get(key)
        if value is not None:
            self._values.move_to_end(key)
        return value

    def put(self, key: K, value: V) -> None:
        self._values[key] = value
        self._values.move_to_end(key)
        if len(self._values) > self._most:
            self._values.popitem(last=False)

    def drop(self, key: K) -> None:
        self._values.pop(key, None)


class Index:
    """Keys by what a function makes of their objects.

    Most values are those of one object: its key stands there by itself, since a dict for each would
    take four times as much.
    """

    def __init__(self, name: str, function: IndexFunction) -> None:
        self._name, self._function = name, function
        self._keys: dict[str, Key | dict[Key, None]] = {}

    def keys(self, value: str) -> list[Key]:
        found = self._keys.get(value)
        if found is None:
            return []
        return [found] if isinstance(found, Key) else [*found]

    def move(self, key: Key, old: Object | None, new: Object | None) -> None:
        """The object of this key was the old one, and is the new one; None: there is none."""
        before, after = self._values(old), self._values(new)
        if before == after:
            return
        for value in set(before).difference(after):
            self._remove(value, key)
        for value in after:
            self._add(value, key)

    def _add(self, value: str, key: Key) -> None:
        found = self._keys.setdefault(value, key)
        if not isinstance(found, Key):
            found[key] = None
        elif found != key:
            self._keys[value] = {found: None, key: None}

    def _remove(self, value: str, key: Key) -> None:
        found = self._keys[value]
        if not isinstance(found, Key):
            del found[key]
        if found == key or not found:
            del self._keys[value]

    def _values(self, obj: Object | None) -> Collection[str]:
        """The entries of an object; none of one that the function cannot read."""
        if obj is None:
            return ()
        try:
            return self._function(obj)
        except Exception:
            log.exception("index failed", index=self._name, key=str(key_of(obj)))
            return ()


class Cache:
    """Objects by key. ``changed(old, new)`` is called once for every difference.

    For an object that was deleted and made again under the same name it is called twice, first for
    the deletion. An object that ``settled`` is true of is kept packed, and made anew when somebody
    reads it: so nobody should walk through those at every event. ``strip`` makes of an object one
    without what nobody reads.
    """

    def __init__(
        self,
        indexes: Mapping[str, IndexFunction],
        changed: Handler,
        read: Read | None = None,
        *,
        strip: Strip | None = None,
        settled: Settled | None = None,
        opened: int = OPENED,
    ) -> None:
        """`read`: what is kept of metadata; None: all. `opened`: so many packed ones stay
        unpacked."""
        self._read = read
        self._strip = strip
        self._settled = settled
        self._objects: dict[Key, Object | Packed] = {}
        self._packing = Packing()
        self._opened: Recent[Key, Object] = Recent(opened)
        self._indexes = {name: Index(name, of) for name, of in indexes.items()}
        self._changed = changed

    def __len__(self) -> int:
        return len(self._objects)

    def get(self, key: Key) -> Object | None:
        found = self._objects.get(key)
        return found if found is None else self._open(key, found)

    def revision_shown(self, key: Key) -> int | None:
        """The revision of the object that the cache shows."""
        found = self._objects.get(key)
        return None if found is None else revision_of(found)

    def uid_shown(self, key: Key) -> str | None:
        """The uid of the object that the cache shows."""
        found = self._objects.get(key)
        return None if found is None else _uid_of(found)

    def going(self) -> list[Object]:
        """All objects that are not settled."""
        return [kept for kept in self._objects.values() if not isinstance(kept, Packed)]

    def settled_keys(self) -> list[Key]:
        return [key for key, kept in self._objects.items() if isinstance(kept, Packed)]

    def is_settled(self, key: Key) -> bool:
        """Whether there is such an object, and it is kept packed."""
        return isinstance(self._objects.get(key), Packed)

    def objects(self, namespace: str | None = None) -> list[Object]:
        return [self._open(key, self._objects[key]) for key in self.keys(namespace)]

    def by_index(self, index: str, value: str) -> list[Object]:
        return [self._open(key, self._objects[key]) for key in self.index_keys(index, value)]

    def keys(self, namespace: str | None = None) -> list[Key]:
        return [key for key in self._objects if namespace in (None, key.namespace)]

    def index_keys(self, index: str, value: str) -> list[Key]:
        """Those that an index has under the value; nothing is unpacked for it."""
        return self._indexes[index].keys(value)

    def taken(self, obj: Object) -> Object | Packed:
        """An object of a list as it is kept until it is placed: what is settled takes little room,
        and what the cache has already none of its own.

        It is the cache's from then on.
        """
        kept = self._objects.get(key_of(obj))
        if kept is not None and (_uid_of(kept), revision_of(kept)) == (
            uid_of(obj),
            resource_version_of(obj),
        ):
            return kept
        light = self._lightened(obj)
        return self._packing.pack(light) if self._is_settled(light) else light

    def place(self, key: Key, obj: Object | Packed | None) -> bool:
        """Makes the cache show what a list says of this key; None: the list has no such object.

        Returns whether it showed anything else.
        """
        if isinstance(obj, Packed):
            return self._put(key, obj)
        if obj is not None:
            return self._put(key, self._lightened(obj))
        if key not in self._objects:
            return False
        self._set(key, None)
        return True

    def update(self, obj: Object) -> None:
        """An object was added or modified; states older than the cached one are ignored, also those
        of a former object of that name."""
        key = key_of(obj)
        old = self._objects.get(key)
        if old is None or revision_of(old) < resource_version_of(obj):
            self._put(key, self._lightened(obj))

    def delete(self, obj: Object) -> None:
        """An object was deleted; ``obj`` is its last state, which handlers get as the old one."""
        key = key_of(obj)
        old = self._objects.get(key)
        if old is not None and _uid_of(old) == uid_of(obj):
            self._set(key, None, last=self._lightened(obj))

    def reconsider(self, key: Key) -> bool:
        """Whether the object is settled may have changed with something else than itself. Returns
        whether it has; handlers are told nothing."""
        kept = self._objects.get(key)
        if kept is None:
            return False
        obj = self._open(key, kept)
        if self._is_settled(obj) == isinstance(kept, Packed):
            return False
        self._objects[key] = obj if isinstance(kept, Packed) else self._packing.pack(obj)
        return True

    def _open(self, key: Key, kept: Object | Packed) -> Object:
        if not isinstance(kept, Packed):
            return kept
        obj = self._opened.get(key)
        if obj is None or (uid_of(obj), resource_version_of(obj)) != (kept.uid, kept.revision):
            obj = kept.unpacked()
            self._opened.put(key, obj)
        return obj

    def _is_settled(self, obj: Object) -> bool:
        if self._settled is None:
            return False
        try:
            return self._settled(obj)
        except Exception:
            log.exception("an object cannot be judged", key=str(key_of(obj)))
            return False

    def _put(self, key: Key, new: Object | Packed) -> bool:
        old = self._objects.get(key)
        if old is not None:
            if _uid_of(old) != _uid_of(new):
                self._set(key, None)
            elif revision_of(old) == revision_of(new):
                return False
        self._set(key, new)
        return True

    def _lightened(self, obj: Object) -> Object:
        """The object without what nobody reads. The one that came is not for anybody else."""
        obj["metadata"].pop("managedFields", None)
        if self._read is not None:
            self._read.lighten(obj["metadata"])
        return obj if self._strip is None else self._strip(obj)

    def _set(self, key: Key, shown: Object | Packed | None, *, last: Object | None = None) -> None:
        kept = self._objects.get(key)
        old = None if kept is None else self._open(key, kept)
        new = shown.unpacked() if isinstance(shown, Packed) else shown
        key = Key(sys.intern(key.namespace), key.name)  # thousands have the same
        if new is not None:
            _share(new, key, shown.uid if isinstance(shown, Packed) else None)
        for index in self._indexes.values():
            index.move(key, old, new)
        self._opened.drop(key)
        if new is None:
            del self._objects[key]
        elif self._is_settled(new):
            packed = shown if isinstance(shown, Packed) else self._packing.pack(new)
            self._objects[key] = packed
            self._opened.put(key, new)  # handlers read it now
        else:
            self._objects[key] = new
        self._changed(last or old, new)


def _uid_of(kept: Object | Packed) -> str:
    return kept.uid if isinstance(kept, Packed) else uid_of(kept)


def revision_of(kept: Object | Packed) -> int:
    """The revision of an object, however it is kept."""
    return kept.revision if isinstance(kept, Packed) else resource_version_of(kept)


def _share(obj: Object, key: Key, uid: str | None) -> None:
    """Makes the object say its name, its namespace and its uid with the very texts that the cache
    has: who keeps one of them keeps no second one."""
    metadata = obj["metadata"]
    if "namespace" in metadata:
        metadata["namespace"] = key.namespace
    metadata["name"] = key.name
    if uid is not None:
        metadata["uid"] = uid
