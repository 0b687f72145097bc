import pytest

from bernstein.server.http.rate import RateLimit
from tests.unit.server.conftest import Clock


@pytest.fixture
def limit(clock: Clock) -> RateLimit:
    return RateLimit(per_second=0.5, burst=3, keys=2, clock=clock)


def test_a_burst_passes_and_the_next_call_is_told_how_long_to_wait(limit: RateLimit) -> None:
    assert [limit.wait("a") for _ in range(4)] == [0, 0, 0, 2.0]


def test_calls_come_back_with_time_up_to_the_burst(limit: RateLimit, clock: Clock) -> None:
    for _ in range(3):
        limit.wait("a")
    clock.seconds += 2
    assert limit.wait("a") == 0
    assert limit.wait("a") == 2.0
    clock.seconds += 1000
    assert [limit.wait("a") for _ in range(4)] == [0, 0, 0, 2.0]


def test_being_refused_costs_nothing(limit: RateLimit, clock: Clock) -> None:
    for _ in range(50):
        limit.wait("a")
    clock.seconds += 2
    assert limit.wait("a") == 0


def test_keys_do_not_share(limit: RateLimit) -> None:
    for _ in range(4):
        limit.wait("a")
    assert limit.wait("b") == 0


def test_only_so_many_keys_are_remembered(limit: RateLimit) -> None:
    for _ in range(4):
        limit.wait("a")
    limit.wait("b")
    limit.wait("c")
    assert limit.wait("a") == 0
