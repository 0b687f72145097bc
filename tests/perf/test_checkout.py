"""What a cache spares a checkout, in bytes of one run; `make bench-checkout` measures time."""

from __future__ import annotations

from pathlib import Path

from tests.perf.bench.checkout import KINDS, pods
from tests.perf.bench.checkout.repository import Size
from tests.perf.bench.goals import CPU

SMALL = Size(sources=600, assets=12)
LEAST_BYTES = 10.0
"""Times as many bytes come from the git server without a cache."""


def test_a_checkout_with_a_cache_fetches_a_small_part(tmp_path: Path) -> None:
    with pods(SMALL, tmp_path) as here:
        for name, kind in KINDS.items():
            sent = here.server.sent
            without = here.run(kind, None)
            all_of_it, sent = here.server.sent - sent, here.server.sent
            used = here.run(kind, here.source)
            rest = here.server.sent - sent
            cpu = f"{without[CPU]:.2f} and {used[CPU]:.2f} s of CPU"
            print(f"{name}: {all_of_it:,} and {rest:,} bytes, {cpu}")
            assert all_of_it > LEAST_BYTES * rest
