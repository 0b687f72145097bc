"""The objects of an informer as models."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from typing import Generic, TypeVar

from bernstein.api.meta import Metadata
from bernstein.controllers.caches.indexes import (
    DONE,
    PLAN,
    may_be_of,
    plan_named,
    plan_of,
)
from bernstein.controllers.caches.reuse import HasSpec, reusing
from bernstein.kube.cache import Recent
from bernstein.kube.informer import Informer
from bernstein.kube.reconcile import Predicate
from bernstein.kube.resource import Key, Object, key_of

T = TypeVar("T", bound=HasSpec)


class Parsed(Generic[T]):
    """An informer's objects as models; each version of an object is parsed once.

    Of what is settled no model is kept, but for those that were read last.
    """

    def __init__(self, informer: Informer, parse: Callable[[Object], T]) -> None:
        self.informer = informer
        self._parse = parse
        self._known: dict[Key, tuple[str, T]] = {}
        self._read: Recent[Key, tuple[str, T]] = Recent(informer.opened)
        """Models of settled objects."""
        self._before: tuple[str, T] | None = None
        """Version and model that the object of the current event had before it."""
        self._going: defaultdict[str, dict[str, T]] = defaultdict(dict)
        self._settled: defaultdict[str, dict[str, None]] = defaultdict(dict)
        """Their names, by namespace."""
        self._told: list[Callable[[Key], None]] = []
        informer.add_handler(self._changed)

    def _changed(self, old: Object | None, new: Object | None) -> None:
        if old is not None:
            key = key_of(old)
            self._before = self._known.get(key) or self._read.get(key)
        if new is not None:
            self._show(new, old)
        elif old is not None:
            key = key_of(old)
            self._known.pop(key, None)
            self._read.drop(key)
            self._going[key.namespace].pop(key.name, None)
            self._settled[key.namespace].pop(key.name, None)

    def tell(self, handler: Callable[[Key], None]) -> None:
        """Calls ``handler(key)`` for every object that is settled now or goes on again, and has not
        changed itself: of that the informer tells its handlers nothing."""
        self._told.append(handler)

    def _show(self, obj: Object, before: Object | None = None) -> None:
        """`before`: the version that the object had before this event."""
        key = key_of(obj)
        if self.informer.is_settled(key):
            self._known.pop(key, None)
            self._going[key.namespace].pop(key.name, None)
            self._settled[key.namespace][key.name] = None
        else:
            self._settled[key.namespace].pop(key.name, None)
            self._going[key.namespace][key.name] = self._of(obj, before)

    def reconsider(self, key: Key) -> bool:
        """Whether the object is settled is asked anew; whether that has changed."""
        if not self.informer.reconsider(key):
            return False
        obj = self.informer.get(key)
        assert obj is not None
        self._show(obj)
        for handler in self._told:
            handler(key)
        return True

    def changes(self, predicate: Callable[[T | None, T | None], bool]) -> Predicate:
        """The predicate on models as one on the raw objects of an event."""

        def of_event(old: Object | None, new: Object | None) -> bool:
            return predicate(self._in_event(old), self._in_event(new))

        return of_event

    def _in_event(self, obj: Object | None) -> T | None:
        """The model of an object in the current event: of the version before it, or since."""
        if obj is None:
            return None
        key, version = key_of(obj), obj["metadata"]["resourceVersion"]
        for known in (self._before, self._known.get(key), self._read.get(key)):
            if known is not None and known[0] == version:
                return known[1]
        model = self._parse(obj)
        if self.informer.is_settled(key):
            self._read.put(key, (version, model))
        return model

    def of(self, obj: Object) -> T:
        """The model of this version of the object."""
        return self._of(obj, None)

    def _of(self, obj: Object, before: Object | None) -> T:
        key, version = key_of(obj), obj["metadata"]["resourceVersion"]
        settled = self.informer.is_settled(key)
        known = self._read.get(key) if settled else self._known.get(key)
        if known is not None and known[0] == version:
            return known[1]
        if known is not None and before is not None:
            is_its = known[0] == before["metadata"]["resourceVersion"]
            model = self._parse(reusing(obj, before, known[1]) if is_its else obj)
        else:
            model = self._parse(obj)
        if settled:
            self._read.put(key, (version, model))
        else:
            self._known[key] = (version, model)
        return model

    def get(self, key: Key) -> T | None:
        obj = self.informer.get(key)
        return self.of(obj) if obj is not None else None

    def by_name(self, namespace: str) -> Mapping[str, T]:
        """All of a namespace. It changes with the cache, so it may be read only until an await.

        What is settled is read when it is asked for: to walk through all of it takes long.
        """
        return _ByName(self, namespace, self._going[namespace], self._settled[namespace])

    def going(self, namespace: str) -> Mapping[str, T]:
        """All of a namespace that are not settled. It changes with the cache, as `by_name` does."""
        return self._going[namespace]

    def settled_keys(self, namespace: str) -> list[Key]:
        """Of all that are settled."""
        return [Key(namespace, name) for name in self._settled[namespace]]

    def of_plan(self, plan: Metadata) -> dict[str, T]:
        """All of the Plan, by name; of what has the index PLAN."""
        return self.by_index(PLAN, plan_named(plan.namespace, plan.uid))

    def going_of_plan(self, plan: Metadata) -> dict[str, T]:
        """Those of the Plan that are not settled."""
        named = plan_named(plan.namespace, plan.uid)
        return self.going_by_index(plan.namespace, PLAN, named)

    def done_of_plan(self, plan: Metadata) -> dict[str, T]:
        """Those of the Plan that are Done, by name; of what has the index DONE."""
        return self.by_index(DONE, plan_named(plan.namespace, plan.uid))

    def done_beside(self, obj: Object) -> dict[str, T]:
        """Those of the Plan that owns this object that are Done, by name."""
        of = (self.by_index(DONE, plan) for plan in plan_of(obj))
        return next(of, {})

    def keys_of_project(self, index: str, project: Key) -> list[Key]:
        """What an index by Project has of this one, and of what says no Project yet; nothing is
        unpacked for it."""
        named = may_be_of(project.namespace, project.name)
        return [key for each in named for key in self.informer.index_keys(index, each)]

    def going_of_project(self, index: str, project: Key) -> list[T]:
        """Those of them that are not settled."""
        going = self._going[project.namespace]
        its = self.keys_of_project(index, project)
        return [going[key.name] for key in its if key.name in going]

    def by_index(self, index: str, value: str) -> dict[str, T]:
        """All that an index of the informer has under the value, by name."""
        return {o["metadata"]["name"]: self.of(o) for o in self.informer.by_index(index, value)}

    def going_by_index(self, namespace: str, index: str, value: str) -> dict[str, T]:
        """Those of a namespace that are not settled."""
        going = self._going[namespace]
        return {
            key.name: going[key.name]
            for key in self.informer.index_keys(index, value)
            if key.namespace == namespace and key.name in going
        }


class _ByName(Mapping[str, T]):
    """All objects of a namespace, those that are settled included."""

    def __init__(
        self,
        parsed: Parsed[T],
        namespace: str,
        going: Mapping[str, T],
        settled: Mapping[str, None],
    ) -> None:
        self._parsed, self._namespace = parsed, namespace
        self._going, self._settled = going, settled

    def __getitem__(self, name: str) -> T:
        if name not in self._settled:
            return self._going[name]
        model = self._parsed.get(Key(self._namespace, name))
        assert model is not None
        return model

    def __contains__(self, name: object) -> bool:
        return name in self._going or name in self._settled

    def __iter__(self) -> Iterator[str]:
        yield from self._going
        yield from self._settled

    def __len__(self) -> int:
        return len(self._going) + len(self._settled)
