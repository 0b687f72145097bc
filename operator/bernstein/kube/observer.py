"""The interface through which the engine counts what it does; metrics implement it."""

from typing import Literal, Protocol

ReconcileResult = Literal["success", "requeue_after", "requeue", "error"]


class Observer(Protocol):
    """Called synchronously where the engine is busiest, so implementations must only count.

    Durations are in seconds.
    """

    def request(self, verb: str, resource: str, status: int, seconds: float) -> None:
        """One HTTP request has ended; status 0 means that there was no answer."""

    def queue_added(self, queue: str) -> None: ...

    def queue_depth(self, queue: str, depth: int) -> None: ...

    def queue_started(self, queue: str, waited: float) -> None: ...

    def queue_finished(self, queue: str, worked: float) -> None: ...

    def queue_retried(self, queue: str) -> None: ...

    def reconciled(self, controller: str, result: ReconcileResult, seconds: float) -> None: ...

    def passed_over(self, controller: str) -> None:
        """Nothing is to be done for a key that is settled, as was seen without a reconcile."""

    def relisted(self, resource: str, reason: str) -> None:
        """An informer listed everything; ``reason`` is Started, CaughtUp, Expired or Failed."""

    def leading(self, lease: str, leading: bool) -> None: ...


class NullObserver:
    """Counts nothing."""

    def request(self, verb: str, resource: str, status: int, seconds: float) -> None: ...

    def queue_added(self, queue: str) -> None: ...

    def queue_depth(self, queue: str, depth: int) -> None: ...

    def queue_started(self, queue: str, waited: float) -> None: ...

    def queue_finished(self, queue: str, worked: float) -> None: ...

    def queue_retried(self, queue: str) -> None: ...

    def reconciled(self, controller: str, result: ReconcileResult, seconds: float) -> None: ...

    def passed_over(self, controller: str) -> None: ...

    def relisted(self, resource: str, reason: str) -> None: ...

    def leading(self, lease: str, leading: bool) -> None: ...
