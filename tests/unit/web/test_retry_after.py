"""How long to wait until a request is sent again."""

from __future__ import annotations

from email.utils import formatdate

import pytest

from bernstein.web import retry_after

NOW = 1_700_000_000.0


@pytest.mark.parametrize(
    ("said", "seconds"),
    [
        (None, None),
        ("7", 7.0),
        ("2.5", 2.5),
        ("-3", None),
        ("nan", None),
        ("inf", None),
        ("soon", None),
        (formatdate(NOW + 90, usegmt=True), 90.0),
        (formatdate(NOW - 90, usegmt=True), 0.0),
        ("Mon, 99 Foo 99999999 99:99:99 GMT", None),
    ],
)
def test_what_a_server_asks_for(said: str | None, seconds: float | None) -> None:
    headers = {} if said is None else {"retry-after": said}
    assert retry_after.seconds(headers, NOW) == seconds


def test_where_nothing_is_said_it_is_later_and_later() -> None:
    assert [retry_after.pause(n, None, 1.0) for n in (1, 2, 3, 9)] == [1.0, 2.0, 4.0, 30.0]
    assert retry_after.pause(1, None, 0.0) == 0.5
    assert retry_after.pause(9, 2.0, 1.0) == 2.0
