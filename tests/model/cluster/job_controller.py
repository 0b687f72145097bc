"""The Job controller and the one that removes finished Jobs, as far as Jobs of one pod need it."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from datetime import datetime

from bernstein.kube.errors import NotFound
from bernstein.kube.resource import (
    EVENTS,
    JOBS,
    PODS,
    Key,
    Object,
    Resource,
    controller_of,
    is_deleting,
    key_of,
    uid_of,
)
from tests.model.cluster.store import ENDED, Store, copy, stamp
from tests.model.dice import Dice

TRACKING = "batch.kubernetes.io/job-tracking"
FIRST_RETRY, LAST_RETRY = 1.0, 60.0


class JobController:
    """Reconciles a Job a moment after it or its pod has changed."""

    def __init__(self, store: Store, dice: Dice) -> None:
        self.refuses_pods_until = 0.0
        """Until then a quota lets it make no pods."""
        self._store = store
        self._dice = dice
        self._waiting: set[str] = set()
        self._made: set[str] = set()
        """Uids of Jobs whose pod was made."""
        self._tries: dict[str, int] = {}
        self._looks = 0
        store.hooks.append(self._changed)

    def _changed(self, resource: Resource, old: Object | None, new: Object | None) -> None:
        changed = new or old
        assert changed is not None
        if resource == JOBS:
            self._soon(uid_of(changed), key_of(changed))
        elif resource == PODS:
            owner = controller_of(changed)
            if owner is None and new is not None:
                self._untrack(new)
            elif owner is not None:
                self._soon(owner["uid"], Key(key_of(changed).namespace, owner["name"]))

    def _soon(self, uid: str, key: Key, seconds: float | None = None) -> None:
        if seconds is None and uid in self._waiting:
            return
        if seconds is None:
            self._waiting.add(uid)
            self._looks += 1
            seconds = self._dice.between(0.02, 1.0, "job", key.name, self._looks % 97)
        asyncio.get_running_loop().call_later(max(0.0, seconds), self._sync, uid, key)

    def _sync(self, uid: str, key: Key) -> None:
        self._waiting.discard(uid)
        pods = [p for p in self._store.all(PODS) if (controller_of(p) or {}).get("uid") == uid]
        job = self._store.find(JOBS, key)
        if job is None or uid_of(job) != uid:
            for pod in pods:
                self._untrack(pod)
            return
        for pod in pods:
            if pod["status"].get("phase") in ENDED:
                self._untrack(pod)
        self._step(job, uid, key, pods)

    def _step(self, job: Object, uid: str, key: Key, pods: list[Object]) -> None:
        ended = next((p for p in pods if p["status"].get("phase") in ENDED), None)
        if _finished(job) or job["spec"].get("suspend"):
            self._expire(job, key)
        elif ended is not None:
            good = ended["status"]["phase"] == "Succeeded"
            self._finish(job, key, "Complete" if good else "Failed", "BackoffLimitExceeded")
        elif uid in self._made and not pods:
            self._finish(job, key, "Failed", "BackoffLimitExceeded")
        elif uid not in self._made and not is_deleting(job):
            self._make_pod(job, key)
        elif self._overdue(job):
            for pod in pods:
                with suppress(NotFound):
                    self._store.delete(PODS, key_of(pod), uid=uid_of(pod))
            self._finish(job, key, "Failed", "DeadlineExceeded")

    def _untrack(self, pod: Object) -> None:
        if TRACKING in pod["metadata"].get("finalizers", ()):
            new = copy(pod)
            new["metadata"]["finalizers"].remove(TRACKING)
            self._store.set(PODS, new)

    def _make_pod(self, job: Object, key: Key) -> None:
        uid, now = uid_of(job), self._store.seconds
        if now < self.refuses_pods_until:
            tries = self._tries[uid] = self._tries.get(uid, 0) + 1
            self._tell_refused(job)
            self._soon(uid, key, min(FIRST_RETRY * 2**tries, LAST_RETRY))
            return
        self._made.add(uid)
        template = copy(job["spec"]["template"])
        meta = template["metadata"]
        owner = {"apiVersion": "batch/v1", "kind": "Job", "name": key.name, "uid": uid}
        meta |= {
            "name": f"{key.name}-{uid[:5]}",
            "namespace": key.namespace,
            "ownerReferences": [owner | {"controller": True, "blockOwnerDeletion": True}],
            "finalizers": [*meta.get("finalizers", ()), TRACKING],
        }
        meta["labels"] |= {
            "batch.kubernetes.io/job-name": key.name,
            "batch.kubernetes.io/controller-uid": uid,
        }
        pod = self._store.create(PODS, {"metadata": meta, "spec": template["spec"]})
        self._store.set_status(PODS, key_of(pod), {"phase": "Pending"})
        started = {"startTime": stamp(self._store.now()), "active": 1}
        self._store.set_status(JOBS, key, job["status"] | started)
        self._soon(uid, key, job["spec"].get("activeDeadlineSeconds", 86400) + 1)

    def _tell_refused(self, job: Object) -> None:
        self._store.create(
            EVENTS,
            {
                "metadata": {"generateName": f"{key_of(job).name}."},
                "involvedObject": {"kind": "Job", "uid": uid_of(job)},
                "type": "Warning",
                "reason": "FailedCreate",
                "message": "Error creating: pods is forbidden: exceeded quota: pods",
            },
        )

    def _overdue(self, job: Object) -> bool:
        limit, began = job["spec"].get("activeDeadlineSeconds"), job["status"].get("startTime")
        if limit is None or began is None:
            return False
        past = (self._store.now() - datetime.fromisoformat(began)).total_seconds()
        return bool(past >= limit)

    def _finish(self, job: Object, key: Key, kind: str, reason: str) -> None:
        now = stamp(self._store.now())
        condition = {"type": kind, "status": "True", "lastTransitionTime": now}
        if kind == "Failed":
            condition["reason"] = reason
        self._store.set_status(JOBS, key, job["status"] | {"active": 0, "conditions": [condition]})
        self._soon(uid_of(job), key, job["spec"].get("ttlSecondsAfterFinished", 86400) + 1)

    def _expire(self, job: Object, key: Key) -> None:
        """Finished Jobs go after a while, with their pods."""
        ttl = job["spec"].get("ttlSecondsAfterFinished")
        if ttl is None or not _finished(job) or is_deleting(job):
            return
        ended = datetime.fromisoformat(job["status"]["conditions"][0]["lastTransitionTime"])
        if (self._store.now() - ended).total_seconds() >= ttl:
            self._store.delete(JOBS, key, propagation="Foreground", uid=uid_of(job))


def _finished(job: Object) -> bool:
    return bool(job["status"].get("conditions"))
