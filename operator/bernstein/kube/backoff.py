"""Exponential back-off with jitter for connections that are set up again."""

from bernstein.kube.clock import REAL, Clock


class Backoff:
    """Delays ``base``·2ⁿ up to ``cap`` seconds, each multiplied by 0.5 to 1 at random."""

    def __init__(
        self,
        *,
        base: float = 0.2,
        cap: float = 30.0,
        clock: Clock = REAL,
    ) -> None:
        self._base = base
        self._cap = cap
        self._clock = clock
        self._failures = 0

    def next(self) -> float:
        # The exponent is bounded: 2.0**1024 overflows after enough failures.
        delay = min(self._base * 2.0 ** min(self._failures, 64), self._cap)
        self._failures += 1
        return delay * (0.5 + self._clock.jitter() / 2)

    def reset(self) -> None:
        self._failures = 0
